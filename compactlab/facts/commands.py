"""Family `command`: the simple commands of calls that run a shell.

Which tool ran it does not matter: a call counts if an argument is named like a command. Compound commands are cut at
`&&`, `||`, `;`, `|` and line ends outside quotes, brackets and here-documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from compactlab.facts.fact import fact
from compactlab.facts.sheet import Sheet
from compactlab.facts.text import FILLER, canonical, normal
from compactlab.tools import decoded
from compactlab.transcript import ToolCall

KEYS = ("command", "cmd", "script", "commands", "shell_command", "command_line", "bash_command")
SHELLS: frozenset[str] = frozenset("bash sh zsh dash /bin/bash /bin/sh /bin/zsh".split())
LONGEST_SCRIPT = 20_000
# Say nothing worth keeping, wherever they stand.
TRIVIAL: frozenset[str] = frozenset(
    """cd ls echo printf true false pwd exit sleep set export cat mkdir clear date whoami which test [ [[ : read local
    return break continue fi done esac shift wait unset source . else then do for while if case until
    function""".split()
)
# Say nothing when they only filter what comes through a pipe.
FILTERS: frozenset[str] = frozenset(
    "head tail wc sort uniq cut tr less more tee column nl rev paste fold xargs".split()
)
# Say no more than the one file that they read or remove, which is a fact of its own.
OF_ONE_FILE: frozenset[str] = frozenset(
    """head tail wc nl less more stat file du sort md5sum sha256sum rm touch tree bat""".split()
)
# What anybody would type who knows the program, with whatever switches.
USUAL: frozenset[str] = frozenset(
    command.strip()
    for command in """
    git log, git status, git diff, git show, git diff HEAD, git show HEAD, git log HEAD, git branch, git stash,
    git stash list, git stash pop, git ls-files, git add, git add ., git add -A, git pull, git push, git fetch,
    git init, git remote, git rev-parse HEAD, git checkout main, git checkout master, git commit, git tag,
    git blame, git reflog, npm test, npm install, npm ci, npm start, npm run build, npm run test, npm run lint,
    npm run dev, npm run start, npm run typecheck, npm run format, npx tsc, npx jest, npx vitest,
    npx vitest run, npx eslint ., npx prettier ., yarn install, yarn test, yarn build, yarn lint, yarn dev,
    yarn start, pnpm install, pnpm test, pnpm build, pnpm lint, pnpm run build, pnpm run test, bun test,
    bun install, node, deno test, python, python pip list, python pip freeze, python pytest,
    python pytest tests, python pytest test, python pytest ., python unittest, python unittest discover,
    python mypy ., python ruff check ., python venv venv, python venv .venv, pytest, pytest tests, pytest test,
    pytest ., python pip install requirements.txt, pip install requirements.txt, pip install ., pip list,
    pip freeze, mypy, mypy ., mypy src, ruff check, ruff check ., ruff format, ruff format ., black ., flake8,
    flake8 ., pylint, tox, nox, uv sync, uv lock, uv run pytest, poetry install, poetry run pytest, make,
    make all, make test, make tests, make build, make lint, make check, make clean, make install, make help,
    make format, cargo test, cargo build, cargo run, cargo check, cargo clippy, cargo fmt, cargo bench,
    cargo update, go build, go build ./..., go test, go test ./..., go vet, go vet ./..., go mod tidy, go run .,
    gofmt ., mvn test, mvn install, mvn package, mvn clean install, gradle build, gradle test, ./gradlew build,
    ./gradlew test, docker ps, docker images, docker compose up, docker compose down, docker compose ps,
    docker compose logs, bundle install, bundle exec rspec, rspec, rake test, composer install, phpunit,
    cmake ., cmake .., cmake --build ., ctest, dotnet build, dotnet test, swift build, swift test, mix test,
    mix deps.get, uname, free, df, uptime, env, ps aux, ps, id, tsc, eslint ., prettier .
    """.split(",")
)
_GIT_OF_A_FILE: frozenset[str] = frozenset("git log,git status,git diff,git add,git blame,git ls-files".split(","))

_SWITCH = re.compile(r"-{1,2}(?:[A-Za-z][\w-]{0,30}|\d{1,3})?")
_COUNT = re.compile(r"\+?\d{1,6}")
_LINES = re.compile(r"(['\"]?)(?:\d{1,7}|\$)(?:,(?:\d{1,7}|\$))?p\1")
_PYTHON = re.compile(r"python(?:\d(?:\.\d{1,2})?)?")
_HEREDOC = re.compile(r"<<-?[ \t]*([\"']?)(\w+)\1")
# A word in quotes or brackets, a redirection, and what ends a simple command.
_PIECE = re.compile(
    r"(?P<quoted>'[^']*+'|\"(?:[^\"\\]|\\.)*+\"|`[^`]*+`|\\.|\$?\(\(?)|(?P<close>\))"
    r"|(?P<redirect>\d?[<>]+&?\d?|&>{1,2})|(?P<cut>\|\|?|&&?|;+|\n)|(?P<other>[^'\"`\\$()<>&|;\n\d]++|.)",
    re.DOTALL,
)
_LEADING = re.compile(r"^(?:(?:do|then|else|if|while|until|time|sudo|!|\{|\()\s+)+")
_TAIL = re.compile(r"(?:\s+(?:\d?>&\d|[\d&]?>+\s*/dev/null|\|\|\s*true))+$")


def mine_commands(sheet: Sheet) -> None:
    """Look for the simple commands of a shell call; they leave their paths and names to the other families."""
    if not isinstance(sheet.block, ToolCall):
        return
    for script in scripts_of(sheet.block):
        for simple, piped in simple_commands(normal(script)[:LONGEST_SCRIPT]):
            value = canonical(_TAIL.sub("", _LEADING.sub("", simple.strip())))
            place = sheet.whole.find(simple.strip())
            if place >= 0 and FILLER not in sheet.whole[place : place + len(simple.strip())] and _telling(value, piped):
                sheet.found.append((place, fact("command", value)))


def scripts_of(call: ToolCall) -> Iterator[str]:
    """Give the shell texts among the arguments of *call*: strings, or the last word of `["bash", "-lc", …]`."""
    arguments = decoded(call)
    for key in KEYS:
        value = arguments.get(key)
        if isinstance(value, str):
            yield value
        elif isinstance(value, list) and len(value) > 1 and value[0] in SHELLS and isinstance(value[-1], str):
            yield value[-1]


def simple_commands(script: str) -> Iterator[tuple[str, bool]]:
    """Give the simple commands of *script* as they are written, and whether each reads from a pipe.

    >>> [text.strip() for text, piped in simple_commands("cd a && grep -n 'x;y' b.py | head -3")]
    ['cd a', "grep -n 'x;y' b.py", 'head -3']
    """
    depth, start, piped = 0, 0, False
    script = _without_heredocs(script)
    for match in _PIECE.finditer(script):
        if match["quoted"]:
            depth += match[0].endswith("(") and not match[0].startswith(("'", '"', "`", "\\"))
        elif match["close"]:
            depth = max(0, depth - 1)
        elif match["cut"] and depth == 0:
            yield script[start : match.start()], piped
            start, piped = match.end(), match[0] == "|"
    yield script[start:], piped


def _without_heredocs(script: str) -> str:
    """Leave out the bodies of here-documents."""
    if "<<" not in script:
        return script
    kept: list[str] = []
    waiting: list[str] = []
    for line in script.split("\n"):
        if waiting:
            if line.strip() == waiting[0]:
                waiting.pop(0)
            continue
        kept.append(line)
        waiting = [match[2] for match in _HEREDOC.finditer(line)]
    return "\n".join(kept)


def _telling(value: str, piped: bool) -> bool:
    words = value.split()
    if not 8 <= len(value) <= 160 or len(words) < 2:
        return False
    first = next((word for word in words if "=" not in word), words[0])
    if first in TRIVIAL or first.startswith(("#", "<", "-", "}")) or (piped and first in FILTERS):
        return False
    if is_usual(value):
        return False
    if "<<" in value or "(){" in value or "() {" in value:
        return False
    return len(words) > 3 or not ((piped and len(words) < 3) or "$" in value)


def is_usual(command: str) -> bool:
    """Tell whether anybody would type *command*, or whether it says no more than one path.

    >>> is_usual("git log --oneline -5"), is_usual("head -12 a.txt"), is_usual("python3 -m pytest -q")
    (True, True, True)
    >>> is_usual("git log --since=2026-03-01"), is_usual("pytest tests/a.py"), is_usual("head -5 a.txt b.txt")
    (False, False, False)
    """
    program, *words = command.split()
    said = [word for word in words if not _SWITCH.fullmatch(word)]
    if program in OF_ONE_FILE or (program == "sed" and words[0] == "-n" and said and _LINES.fullmatch(said.pop(0))):
        return sum(not _COUNT.fullmatch(word) for word in said) <= 1
    stem = " ".join(("python" if _PYTHON.fullmatch(program) else program, *said))
    return stem in USUAL or (len(said) == 2 and said[1][0] != "-" and f"{program} {said[0]}" in _GIT_OF_A_FILE)
