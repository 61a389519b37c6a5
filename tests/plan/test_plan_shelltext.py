"""Text from hosts in commands: read by a real bash, it is nothing but text."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from checkrunner.plan.shelltext import ShellText

NASTY = "a b'c\"d`touch x`$(touch x)\\e;touch x\n# <<E ${y:-$(touch x)} !! * ~ ="


def put(before: str, text: str, after: str) -> str | None:
    """The command, None where it is refused."""
    shell = ShellText()
    shell.add(before)
    if not shell.add_inert(text):
        return None
    shell.add(after)
    return shell.text if shell.end() else None


def printed(command: str, folder: Path) -> str:
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, check=False, timeout=20)
    assert list(folder.iterdir()) == [], "it ran something"
    return done.stdout.decode("utf-8", "surrogateescape")


CONTEXTS = [
    ("printf %s ", ""),
    ("printf %s x", "y"),
    ('printf %s "', '"'),
    ('printf %s "a ', ' b"'),
    ("printf %s '", "'"),
    ("printf '%s' 'a'\"", "\"'b'"),
    ('x="', '"; printf %s "$x"'),
    ("x='", '\'; printf %s "$x"'),
    ("x=", '; printf %s "$x"'),
    ("export x=", '; printf %s "$x"'),
    ('export x="a', '"; printf %s "$x"'),
    ("if true; then printf %s ", "; fi"),
    ('if true\nthen printf %s "', '"\nfi'),
    ('printf %s "$(printf %s ', ')"'),
    ("printf %s $(true) ", ""),
    ('printf %s "$(true)"', ""),
    ('true "${HOME}" `true` "`true`" ${#HOME}; printf %s ', ""),
    ("true # it's a comment\nprintf %s ", ""),
    ("(printf %s ", ")"),
    ("true && { printf %s '", "'; }"),
    ("! sudo -n false 2>/dev/null; command printf %s ", ""),
    ('printf %s "', '" | cat | tr -d q'),
    ("cat <<< x >/dev/null; printf %s ", ""),
    ("a=(1 ", '); printf %s "${a[1]}"'),
    ("case x in x) printf %s ", ";; esac"),
    ("printf %s \\\n  ", ""),
]


@pytest.mark.parametrize(("before", "after"), CONTEXTS)
def test_where_it_stays_text(before: str, after: str, tmp_path: Path) -> None:
    command = put(before, NASTY, after)
    assert command is not None
    assert NASTY in printed(command, tmp_path)


LETTERS = [*"ab '\"`$(){}[]\\;&|<>#!*?~=\n\t-%", "$(touch x)", "`touch x`", ";touch x;"]


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(context=st.sampled_from(CONTEXTS), text=st.lists(st.sampled_from(LETTERS), max_size=12).map("".join))
def test_any_text_stays_text(context: tuple[str, str], text: str, tmp_path: Path) -> None:
    command = put(context[0], text, context[1])
    assume(command is not None)
    assert command is not None
    assert text in printed(command, tmp_path)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('bash -c "printf %s ', '"'),
        ("bash -c 'printf ", "'"),
        ('ssh other "ls ', '"'),
        ("awk '/", "/'"),
        ('psql -c "select ', '"'),
        ("eval ", ""),
        ("command eval ", ""),
        ("[[ ", " -eq 1 ]]"),
        ("declare -i x=", ""),
        ("test -v ", ""),
        ("printf -v ", " x"),
        ("read ", ""),
        ("echo $((", "))"),
        ("(( ", " ))"),
        ("x[", "]=1"),
        ("echo ${x:-", "}"),
        ('echo "${x:-', '}"'),
        ("echo `ls ", "`"),
        ('echo "`ls ', '`"'),
        ('echo "$(ls "', '")"'),
        ('echo "$(bash -c "', '")"'),
        ('echo "$(case x in x) printf ', ';; esac)"'),
        ("cat <<E\n", "\nE"),
        ("cat <<-'E'\nit's\n", "\nE"),
        ("true # ", ""),
        ("echo $'", "'"),
        ("echo \\", ""),
        ("$SHELL -c '", "'"),
        ('echo "', '" | sh'),
        ("echo ", " | sudo bash"),
        ("echo ", " | cat | xargs ls"),
        ("echo ", " |\n cat |\n sh"),
        ("{ echo 1; echo '", "'; } | sh"),
        ("for i in 1; do echo '", "'; done | python3"),
        ("export ", ""),
        ("echo ", " 2>&1 | sh"),
        ("echo ", " >| f | sh | cat; sh < f | echo x &>/dev/null | sh"),
        ("(echo ", "; true) | sh"),
        ('eval "$(echo ', ')"'),
        ('bash -c "ls $(printf %s ', ')"'),
        ("$(echo ", ")"),
        ("bash <<< ", ""),
        ("cat <<<", " | sh"),
        ("while true; do true; done <<< ", ""),
        ("bash < <(echo ", ")"),
        ("echo ", " | tee >(sh)"),
        ("echo ", " > >(sh)"),
        ("x=([", "]=1)"),
        ("eval 2>&1 ", ""),
        ("eval &>/dev/null ", ""),
        (">/dev/null 2> /dev/null eval ", ""),
        ("x() { eval ", "; }; x"),
        ("case x in (x) eval ", ";; esac"),
        ("time -p eval ", ""),
        ("coproc eval ", ""),
        ("compgen -W ", ""),
        ("declare -i n; n=", ""),
        ("bash -c ", ""),
        ("sudo -u root bash -ec ", ""),
        ("docker exec x sh -c ", ""),
        ("python3 -c ", ""),
        ("ssh other ls ", ""),
        ("timeout 5 ssh other ", ""),
        ("awk ", " f"),
    ],
)
def test_where_nobody_can_be_sure(before: str, after: str) -> None:
    assert put(before, "a[$(touch x)] b", after) is None


@pytest.mark.parametrize("before", ["", "true; ", "sudo ", "A=1 ", "( "])
def test_it_sets_no_variable_of_a_command(before: str) -> None:
    assert put(before, "LD_PRELOAD=/tmp/x.so", " ls") == f"{before}'LD_PRELOAD=/tmp/x.so' ls"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("ls ", " 2>&1 | bash"),
        ("x=$(printf %s ", ")"),
        ("stat $(dirname ", ")"),
        ("bash -c 'grep \"$1\" f' _ ", ""),
        ("awk -v x=", " '$1 == x' f"),
        ("awk -v ", " 1"),
        ("grep '[", "]' f"),
        ("grep -c ", " f"),
        ("systemctl status ssh ", ""),
        ("cat <<< ", " | wc -c"),
        ("printf %s ", " > >(cat)"),
        ("printf %s ", " >| f"),
        ("ls &>/dev/null; ls ", ""),
        ("(true); ls ", ""),
        ("x() { ls ", "; }"),
    ],
)
def test_it_is_not_refused_for_nothing(before: str, after: str) -> None:
    assert put(before, "a b", after) is not None


@pytest.mark.parametrize("before", ["export ", "alias ", "eval ", 'bash -c "', "bash -c 'true; "])
def test_it_sets_no_variable_for_good(before: str) -> None:
    assert put(before, "PATH=/tmp", ' x"' if '"' in before else " x'" if "'" in before else "") is None


def test_plain_text_stands_anywhere() -> None:
    for before, after in (('bash -c "ls ', '"'), ("cat <<E\n", "\nE"), ("eval ", ""), ("echo $((", "))")):
        assert put(before, "sda1", after) == f"{before}sda1{after}"


def test_no_text_is_none_within_quotes_and_a_word_of_its_own_else() -> None:
    assert put('bash -c "ls ', "", '"') == 'bash -c "ls "'
    assert put("ls ", "", "") == "ls ''"


@pytest.mark.parametrize("text", ["a$b", "it's", 'say "x"', "back\\slash", "a b"])
def test_a_reader_of_words_alone_sees_the_same(text: str) -> None:
    for before, after in (('grep "', '" f'), ("grep '", "' f"), ("grep ", " f")):
        command = put(before, text, after)
        assert command is not None
        assert shlex.split(command) == ["grep", text, "f"]


def test_a_long_command_is_read_once() -> None:
    shell = ShellText()
    for number in range(2000):
        shell.add("true; printf %s ")
        assert shell.add_inert(f"a b{number}")
        shell.add("\n")
    assert shell.end()
    assert shell.size == len(shell.text)


def test_many_words_of_a_command_are_read_once() -> None:
    shell = ShellText()
    shell.add("ls")
    for number in range(20_000):
        shell.add(" ")
        assert shell.add_inert(f"a b{number}")
    assert shell.end()
