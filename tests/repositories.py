"""Repositories of a user in every state that git knows, and all that can be seen of one."""

import shutil
from contextlib import contextmanager
from pathlib import Path

from journals import begun, git

LOOKS = ("status --porcelain=v2 --branch", "diff --cached", "diff", "stash list", "worktree list --porcelain")
HOOKS = "pre-commit commit-msg prepare-commit-msg post-commit reference-transaction post-index-change post-checkout"


def edited(folder):
    (folder / "a.py").write_text("staged\n")
    git(folder, "add", "a.py")
    (folder / ".env").write_text("TOKEN=planted\n")
    (folder / "b.py").write_text("dirty\n")
    return folder


def clashing(folder, *command):
    """In the middle of something that met a conflict in a.py."""
    begun(folder)
    git(folder, "checkout", "-q", "-b", "other", "HEAD~1")
    (folder / "a.py").write_text("theirs\n")
    git(folder, "commit", "-q", "-am", "Other work")
    git(folder, "checkout", "-q", "main")
    git(folder, *command, check=False)
    (folder / ".env").write_text("TOKEN=planted\n")
    return folder


def on_a_branch(folder):
    return edited(begun(folder))


def unborn(folder):
    folder.mkdir()
    git(folder, "init", "-q", "-b", "trunk")
    return edited(folder)


def detached(folder):
    git(begun(folder), "checkout", "-q", "--detach", "HEAD~1")
    return edited(folder)


def bisecting(folder):
    begun(folder)
    git(folder, "bisect", "start", "HEAD", "HEAD~1")
    return edited(folder)


def with_a_conflict_from_a_stash(folder):
    begun(folder)
    (folder / "a.py").write_text("mine\n")
    git(folder, "stash")
    (folder / "a.py").write_text("other\n")
    git(folder, "commit", "-q", "-am", "Other")
    git(folder, "stash", "pop", check=False)
    return folder


def linked(folder):
    main = begun(folder.with_name("main"))
    git(main, "worktree", "add", "-q", "-b", "side", str(folder))
    return edited(folder)


def a_submodule(folder):
    inner, outer = begun(folder.with_name("inner")), begun(folder)
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "part")
    return edited(outer / "part")


def sparse(folder):
    begun(folder)
    (folder / "deep").mkdir()
    (folder / "deep" / "c.py").write_text("c\n")
    git(folder, "add", "deep")
    git(folder, "commit", "-q", "-m", "Deep")
    git(folder, "sparse-checkout", "set", "--cone", "--sparse-index", "nowhere")
    return edited(folder)


def with_filters(folder):
    begun(folder)
    git(folder, "config", "core.autocrlf", "true")
    git(folder, "config", "filter.upper.clean", "tr a-z A-Z")
    (folder / ".gitattributes").write_text("* text eol=crlf filter=upper\n")
    git(folder, "add", ".gitattributes")
    git(folder, "commit", "-q", "-m", "Attributes")
    return folder


ON_BRANCH = {
    on_a_branch: "main", unborn: "trunk", linked: "side", a_submodule: "main", sparse: "main", with_filters: "main",
    with_a_conflict_from_a_stash: "main",
}  # fmt: skip
ODD = {
    "detached": detached,
    "merge": lambda folder: clashing(folder, "merge", "other"),
    "rebase": lambda folder: clashing(folder, "rebase", "other"),
    "cherry-pick": lambda folder: clashing(folder, "cherry-pick", "other"),
    "revert": lambda folder: clashing(folder, "revert", "--no-commit", "HEAD"),
    "bisect": bisecting,
}


def state(folder):
    """All that a user sees of a repository: status, what is staged, where HEAD is, what is under way."""
    seen = [git(folder, *command.split()) for command in LOOKS]
    seen = [
        line
        for text in seen
        for line in text.splitlines()
        if not line.startswith(("# branch.oid", "# branch.ab", "HEAD "))
    ]
    own = Path(git(folder, "rev-parse", "--absolute-git-dir").strip())
    under_way = sorted(p.name for p in own.iterdir() if p.name not in {"compactlab", "index"})
    return seen, (own / "HEAD").read_text(), [n for n in under_way if n not in {"logs", "refs", "objects", "hooks"}]


@contextmanager
def no_hook(folder):
    """Plant hooks that leave a trace, and see that there is none."""
    trace = folder.parent / "a-hook-ran"
    place = Path(git(folder, "rev-parse", "--git-common-dir").strip())
    hooks = (folder / place / "hooks").resolve()
    hooks.mkdir(exist_ok=True)
    for name in HOOKS.split():
        (hooks / name).write_text(f"#!/bin/sh\necho {name} >> '{trace}'\n")
        (hooks / name).chmod(0o755)
    yield
    assert not trace.exists()
    shutil.rmtree(hooks)


def checked_out(folder):
    """As a CI job has it: one commit, shallow, no branch."""
    source = begun(folder.with_name("source"))
    git(folder.parent, "clone", "-q", "--depth", "1", f"file://{source}", folder.name)
    git(folder, "checkout", "-q", "--detach")
    git(folder, "branch", "-D", "main")
    return folder
