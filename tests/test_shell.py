"""Shell scripts, step by step: words, outputs, here-documents, directories, and what surely ran."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlab.traffic.shell import LONGEST_SCRIPT, Word, steps


def words(script):
    return [[word.text for word in step.words] for step in steps(script)]


WORDS = [
    ("ls -la", [["ls", "-la"]]),
    ("cat 'a b.py' \"c d.py\" e\\ f.py", [["cat", "a b.py", "c d.py", "e f.py"]]),
    ("a && b || c; d | e & f\ng", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"], ["g"]]),
    ("echo 'x; y && z'", [["echo", "x; y && z"]]),
    ("echo one \\\n  two", [["echo", "one", "two"]]),
    ("LANG=C TZ=UTC sort a.txt", [["sort", "a.txt"]]),
    ("ls # a comment; rm b", [["ls"]]),
    ("echo a#b", [["echo", "a#b"]]),
    ("time sudo rm a", [["rm", "a"]]),
    ("(cd src; ls)", [["cd", "src"], ["ls"]]),
    ('git commit -m "$(cat <<\'EOF\'\nfix: a "quoted" thing; rm b\nEOF\n)"', [["git", "commit", "-m", "$(cat <<0\n)"]]),
    ("cat <<< word", [["cat"]]),
    ("if test -f a; then cat a; fi", [["test", "-f", "a"], ["cat", "a"]]),
    ("rm a\nf() { rm b; }\nrm c", [["rm", "a"]]),
    ("rm a; echo 'never closed", [["rm", "a"]]),
    ("", []),
]


@pytest.mark.parametrize(("script", "expected"), WORDS)
def test_a_script_is_cut_into_simple_commands(script, expected):
    assert words(script) == expected


@pytest.mark.parametrize(
    ("script", "outputs", "body"),
    [
        ("echo a > b.txt", [("b.txt", False)], None),
        ("echo a >> b.txt", [("b.txt", True)], None),
        ("make 2>&1 >/dev/null", [], None),
        ("make 2> errors.txt", [], None),
        ("make &> all.txt", [("all.txt", False)], None),
        ("cat > a.py <<'E'\nx = 1\nE\n", [("a.py", False)], "x = 1\n"),
        ("cat <<-E > a.py\n\tx = 1\n\tE\n", [("a.py", False)], "x = 1\n"),
        ("cat >> a.py <<E", [("a.py", True)], ""),
    ],
)
def test_outputs_and_here_documents_go_with_their_command(script, outputs, body):
    (step,) = steps(script)
    assert [(output.target.text, output.adds) for output in step.outputs] == outputs
    assert step.body == body


def test_two_here_documents_keep_their_own_bodies():
    made = steps("cat > a <<A\none\nA\ncat > b <<B\ntwo\nB\n")
    assert [(step.outputs[0].target.text, step.body) for step in made] == [("a", "one\n"), ("b", "two\n")]


@pytest.mark.parametrize(
    ("word", "literal"),
    [
        ("a.py", True),
        ("'$a'", True),
        ("$a", False),
        ('"${a}.py"', False),
        ("*.py", False),
        ("'*.py'", True),
        ("a{1,2}.py", False),
        ("`ls`", False),
        ("$(ls -la (x))", False),
        ("~/a.py", True),
    ],
)
def test_a_word_that_the_shell_would_change_is_not_literal(word, literal):
    (step,) = steps(f"cat {word}")
    assert step.words[1].literal is literal


@pytest.mark.parametrize(
    ("script", "directories"),
    [
        ("ls", [""]),
        ("cd /srv && ls", ["", "/srv"]),
        ("cd /srv; cd app/../web; ls", ["", "/srv", "/srv/web"]),
        ("cd src && ls", ["", "src"]),
        ("cd $HOME && ls; cd /a; ls", ["", None, None, "/a"]),
        ("(cd /srv && ls); ls", ["", "/srv", ""]),
        ("cd - && ls", ["", None]),
    ],
)
def test_a_step_knows_the_directory_that_the_script_changed_to(script, directories):
    assert [step.directory for step in steps(script)] == directories


@pytest.mark.parametrize(
    ("script", "certain"),
    [
        ("rm a && rm b", [True, True]),
        ("rm a || rm b; rm c", [True, False, True]),
        ("[ -f a ] && rm a\nrm b", [True, False, True]),
        ("grep -q x a && rm a", [True, False]),
        ("if true; then rm a; fi; rm b", [False, False, True]),
        ("while read f; do rm a; done < list; rm b", [False, False, True]),
        ("for f in a b; do rm $f; done; rm c", [False, False, True]),
        ("{ rm a; rm b; } > log", [True, True, True]),
    ],
)
def test_a_step_under_a_condition_is_not_certain(script, certain):
    assert [step.certain for step in steps(script)] == certain


@given(st.text(alphabet="ab '\"\\$(){}<>&|;\n#`=/.EOF-", max_size=120))
def test_any_script_is_read_without_an_error_and_the_same_way_again(script):
    assert steps(script) == steps.__wrapped__(script)
    assert all(isinstance(word, Word) for step in steps(script) for word in step.words)


@given(st.lists(st.text(alphabet="ab'\" $;\n\\", min_size=1, max_size=12).filter(lambda w: "'" not in w), min_size=1))
def test_words_in_single_quotes_come_back_as_they_were(parts):
    (step,) = steps("run " + " ".join(f"'{part}'" for part in parts))
    assert [word.text for word in step.words[1:]] == parts


@pytest.mark.parametrize("piece", ["a" * 100, "$(", "'", '"\\', "<<E\n", "((", "; ", "$((a"])
def test_reading_is_linear_whatever_the_script(piece):
    script = piece * (100_000 // len(piece))
    began = time.process_time()
    steps(script)
    assert time.process_time() - began < 2


def test_a_script_over_the_limit_is_left_alone():
    assert steps("ls;" * LONGEST_SCRIPT) == ()
