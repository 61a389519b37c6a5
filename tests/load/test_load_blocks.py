"""Blocks, included files and what they hand on; ids, and what checks need."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from checkrunner.load.playbook import load_playbook, read_playbook
from checkrunner.model.errors import PlaybookError
from checkrunner.model.playbook import Check, Playbook


def load(text: str) -> tuple[Check, ...]:
    (play,) = load_playbook("p.yml", f"- hosts: all\n  checks:\n{text}").plays
    return play.checks


def in_folder(folder: Path, **files: str) -> Playbook:
    """The playbook `play` among files of these names."""
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.yml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return load_playbook(str(folder / "play.yml"))


def texts(check: Check) -> list[str]:
    return [condition.text for condition in check.when]


SEALED = "\n".join(b"\n".join([b"00" * 32, b"11" * 32, b"22" * 16]).hex()[at : at + 80] for at in range(0, 324, 80))
BLOCK = """\
    - block:
        - id: plain
          run: id
        - id: own
          run: id
          when: [c, d]
          tags: [x, a]
          needs: up
          requires: jq
          vars: {v: own, w: 1}
          env: {A: own, C: 3}
          cwd: /own
          timeout: 1s
          session: own
          severity: critical
          become: false
          become_method: doas
          why: own why
          fix: own fix
      name: for the reader
      when: [a, b]
      tags: a
      needs: [up]
      requires: [df]
      vars: {v: block, u: 0}
      env: {A: block, B: 2}
      cwd: /block
      timeout: 9s
      session: block
      severity: warning
      run_once: true
      delegate_to: web1
      become: true
      become_user: app
      become_method: su
      why: block why
      fix: block fix
"""
UP = "    - {id: up, run: id}\n"


def test_a_check_without_keys_gets_those_of_its_block() -> None:
    _, check, _ = load(UP + BLOCK)

    assert (check.id, check.name, texts(check)) == ("plain", "plain", ["a", "b"])
    assert (check.tags, check.needs, check.requires) == (("a",), ("up",), ("df",))
    assert check.vars == {"v": "block", "u": 0}
    assert {key: value.text for key, value in check.env.items() if hasattr(value, "text")} == {"A": "block", "B": "2"}
    assert (check.cwd and check.cwd.text, check.timeout_s, check.session) == ("/block", 9.0, "block")
    assert (check.severity, check.run_once, check.delegate_to and check.delegate_to.text) == ("warning", True, "web1")
    assert (check.become.become, check.become.user, check.become.method) == (True, "app", "su")
    assert (check.why and check.why.text, check.fix and check.fix.text) == ("block why", "block fix")


def test_what_a_check_says_itself_is_joined_or_wins() -> None:
    *_, check = load(UP + BLOCK)

    assert texts(check) == ["a", "b", "c", "d"]
    assert (check.tags, check.needs, check.requires) == (("a", "x"), ("up",), ("df", "jq"))
    assert check.vars == {"v": "own", "u": 0, "w": 1}
    assert sorted(check.env) == ["A", "B", "C"]
    assert getattr(check.env["A"], "text", None) == "own"
    assert (check.cwd and check.cwd.text, check.timeout_s, check.session) == ("/own", 1.0, "own")
    assert (check.severity, check.run_once) == ("critical", True)
    assert (check.become.become, check.become.user, check.become.method) == (False, "app", "doas")
    assert (check.why and check.why.text, check.fix and check.fix.text) == ("own why", "own fix")


def test_the_inner_of_two_blocks_comes_last() -> None:
    outer = "    - block:\n        - block:\n            - {id: a, run: id, when: c}\n          when: b\n          vars: {v: 2}\n"
    (check,) = load(f"{outer}          cwd: /inner\n      when: a\n      vars: {{v: 1, u: 1}}\n      cwd: /outer\n")

    assert texts(check) == ["a", "b", "c"]
    assert check.vars == {"v": 2, "u": 1}
    assert check.cwd
    assert check.cwd.text == "/inner"


def test_exact_privileges_of_a_block_end_where_another_says_otherwise() -> None:
    text = "    - block:\n        - {id: a, argv: [id]}\n        - block:\n            - {id: b, run: id}\n          become: true\n"
    first, second = load(f"{text}      become: exact\n")

    assert (first.become.become, first.become.exact) == (True, True)
    assert (second.become.become, second.become.exact) == (True, False)
    with pytest.raises(PlaybookError, match="check 'b' has not"):
        load("    - block:\n        - {id: b, run: id}\n      become: exact\n")


def test_what_follows_a_check_runs_as_it_did_and_whatever_its_conditions() -> None:
    text = "    - block:\n        - id: a\n          run: id\n          when: x\n          vars: {w: 1}\n"
    text += "          on_fail:\n            - {id: b, run: id}\n            - block: [{id: c, run: id}]\n              cwd: /c\n"
    (check,) = load(f"{text}      when: y\n      become: true\n      vars: {{v: 1}}\n      tags: t\n")

    assert [one.id for one in check.on_fail] == ["b", "c"]
    for follower in check.on_fail:
        assert follower.when == ()
        assert follower.become.become is True
        assert follower.vars == {"v": 1, "w": 1}
        assert follower.tags == ("t",)
    assert check.on_fail[1].cwd
    assert check.on_fail[1].cwd.text == "/c"


def test_follow_ups_may_follow_each_other_and_need_what_stands_before_them() -> None:
    text = "    - id: a\n      run: id\n      on_fail:\n        - {id: b, run: id, on_fail: {id: c, run: id, needs: [a, up]}}\n"
    _, check = load(f"{UP}{text}        - {{id: d, run: id, needs: b}}\n")

    assert check.on_fail[0].on_fail[0].id == "c"
    assert check.on_fail[0].on_fail[0].needs == ("a", "up")


def test_ids_of_earlier_plays_can_be_needed() -> None:
    book = load_playbook(
        "p.yml",
        "- hosts: a\n  pre_checks: [{id: up, run: id}]\n  checks: [{id: x, run: id, needs: up}]\n"
        "- hosts: b\n  checks: [{id: y, run: id, needs: [x, up]}]\n",
    )

    assert book.plays[1].checks[0].needs == ("x", "up")


def test_an_id_of_a_check_that_cannot_be_read_is_not_unknown_as_well() -> None:
    with pytest.raises(PlaybookError) as caught:
        load("    - {id: a, run: id, blok: 1}\n    - {id: b, run: id, needs: a}\n")

    assert [error.message for error in caught.value.errors] == ["unknown key 'blok'"]


def test_a_file_is_looked_for_beside_the_one_that_names_it(tmp_path: Path) -> None:
    book = in_folder(
        tmp_path,
        play="- hosts: all\n  checks:\n    - include_checks: sub/disk.yml\n      when: a\n      vars: {m: /}\n",
        sub__disk="- {id: disk, run: 'df {{ m }}', when: b}\n- import_checks: more.yml\n",
        sub__more="- id: more\n  run: |\n    id\n",
    )
    disk, more = book.plays[0].checks

    assert texts(disk) == ["a", "b"]
    assert (more.id, texts(more), more.vars) == ("more", ["a"], {"m": "/"})
    assert more.source.path == str(tmp_path / "sub" / "more.yml")
    assert more.run
    assert (more.run.source.line, more.run.source.column) == (3, 5)
    assert [Path(path).name for path in book.included] == ["disk.yml", "more.yml"]
    assert book.included[more.source.path][0] == "- id: more"


def test_the_digest_is_of_all_files(tmp_path: Path) -> None:
    files = {"play": "- hosts: all\n  vars_files: v.yml\n  checks: [{include_checks: c.yml}]\n", "c": "- run: id\n"}
    one = in_folder(tmp_path, **files, v="a: 1\n").digest

    assert in_folder(tmp_path, **files, v="a: 1\n").digest == one
    assert in_folder(tmp_path, **files, v="a: 2\n").digest != one
    assert in_folder(tmp_path, **{**files, "c": "- run: ls\n"}, v="a: 1\n").digest != one


def test_a_file_can_come_twice_under_two_prefixes(tmp_path: Path) -> None:
    inner = "- {id: a, run: id, on_fail: {id: c, run: id, needs: a}}\n- {id: b, run: id, needs: [a, up]}\n"
    include = "    - include_checks: c.yml\n      prefix: {}\n"
    play = f"- hosts: all\n  checks:\n    - {{id: up, run: id}}\n{include.format('x-')}{include.format('y-')}"
    checks = in_folder(tmp_path, play=play, c=inner).plays[0].checks

    assert [check.id for check in checks] == ["up", "x-a", "x-b", "y-a", "y-b"]
    assert checks[2].needs == ("x-a", "up")
    assert checks[3].on_fail[0].id == "y-c"
    assert checks[3].on_fail[0].needs == ("y-a",)


def test_what_an_inclusion_needs_is_not_of_the_file(tmp_path: Path) -> None:
    play = "- hosts: all\n  checks: [{id: a, run: id}, {include_checks: c.yml, prefix: x-, needs: a}]\n"
    checks = in_folder(tmp_path, play=play, c="- {id: a, run: id}\n- {id: b, run: id}\n").plays[0].checks

    assert [(check.id, check.needs) for check in checks] == [("a", ()), ("x-a", ("a",)), ("x-b", ("a",))]


def test_prefixes_of_nested_files_add_up(tmp_path: Path) -> None:
    play = "- hosts: all\n  checks: [{include_checks: b.yml, prefix: x-}]\n"
    book = in_folder(tmp_path, play=play, b="- {include_checks: c.yml, prefix: y-}\n", c="- {id: a, run: id}\n")

    assert [check.id for check in book.plays[0].checks] == ["x-y-a"]


def test_files_of_variables_win_over_vars_and_may_be_encrypted(tmp_path: Path) -> None:
    play = "- hosts: all\n  vars: {a: 1, b: 1}\n  vars_files: [v.yml, w.yml]\n  checks: [{run: id}]\n"
    book = in_folder(tmp_path, play=play, v="b: 2\nc: [2]\n", w="c: 3\n")

    assert book.plays[0].vars == {"a": 1, "b": 2, "c": 3}
    (tmp_path / "w.yml").write_text(f"$ANSIBLE_VAULT;1.1;AES256\n{SEALED}\n", encoding="utf-8")
    with pytest.raises(PlaybookError) as caught:
        load_playbook(str(tmp_path / "play.yml"))
    assert "no vault password is given" in caught.value.message
    assert caught.value.source.path == str(tmp_path / "w.yml")


def test_empty_files_of_variables_are_no_fault(tmp_path: Path) -> None:
    play = "- hosts: all\n  vars_files: v.yml\n  checks: [{run: id}]\n"

    assert in_folder(tmp_path, play=play, v="# nothing yet\n").plays[0].vars == {}


def test_inclusions_without_end_are_refused(tmp_path: Path) -> None:
    double = "- include_checks: {0}.yml\n- include_checks: {0}.yml\n"
    files = {f"f{n}": double.format(f"f{n + 1}") for n in range(20)}
    with pytest.raises(PlaybookError, match="more than 10,000 checks"):
        in_folder(tmp_path, play="- hosts: all\n  checks: [{include_checks: f0.yml}]\n", f20="- run: id\n", **files)


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    (tmp_path / "c.yml").write_bytes(b"- run: \xff\n")
    with pytest.raises(PlaybookError, match="is not UTF-8 text") as caught:
        in_folder(tmp_path, play="- hosts: all\n  checks: [{include_checks: c.yml}]\n")
    assert (caught.value.source.path, caught.value.source.line) == (str(tmp_path / "c.yml"), 1)


def test_a_link_to_nowhere_is_called_that(tmp_path: Path) -> None:
    (tmp_path / "c.yml").symlink_to("c.yml")

    with pytest.raises(PlaybookError, match="is a symbolic link that leads nowhere"):
        in_folder(tmp_path, play="- hosts: all\n  checks: [{include_checks: c.yml}]\n")


def test_many_unknown_needs_are_told_at_once(tmp_path: Path) -> None:
    checks = "".join(f"    - {{id: check-{n}, run: id, needs: chek-{n}}}\n" for n in range(2000))
    (tmp_path / "play.yml").write_text(f"- hosts: all\n  checks:\n{checks}")
    before = time.process_time()
    errors = read_playbook(str(tmp_path / "play.yml")).errors
    assert time.process_time() - before < 20
    assert len(errors) == 2000
    assert errors[0].hint.startswith("Did you mean 'check-")
    assert errors[-1].hint.startswith("Known: ")
