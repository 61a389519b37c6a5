"""Text that a host has printed, in the commands of later tasks over a real sshd: it is text, and runs nothing."""

from __future__ import annotations

from pathlib import Path

from cli_runner import CommandLine

PLAYBOOK = """\
- hosts: all
  gather_facts: false
  tasks:
    - name: evil
      shell: cat {folder}/evil
      register: evil
    - name: names
      shell: ls {folder}/names
      register: names
    - name: bare
      shell: cd {folder}; printf '%s' {{{{ evil.stdout }}}} > bare
    - name: within quotes
      shell: cd {folder}; printf '%s' "{{{{ evil.stdout }}}}" > double && printf '%s' '{{{{ evil.stdout }}}}' > single
    - name: as a word
      command: cp "{folder}/evil" "{folder}/{{{{ names.stdout_lines[0] }}}}.copy"
    - name: joined
      shell: cd {folder}/names; ls -1 {{{{ names.stdout_lines | join(' ') }}}} > ../joined
    - name: never a template
      assert:
        that:
          - "'7' ~ '*1000003' in evil.stdout"
          - "'7000021' not in evil.stdout"
    - name: let through
      shell: cd {folder}; {{{{ 'touch let' | unquoted }}}} && {{{{ ('touch ' ~ names.stdout_lines[0]) | unquoted }}}} || true
"""

EVIL = "a'b\"c; touch {folder}/ran; $(touch {folder}/ran) `touch {folder}/ran` {{{{ 7*1000003 }}}} \\ $HOME"


def test_it_is_text_wherever_it_goes(cli: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "there"
    (folder / "names").mkdir(parents=True)
    evil = EVIL.format(folder=folder)
    (folder / "evil").write_text(evil)
    for name in ("$(touch ran)", "a b"):
        (folder / "names" / name).touch()

    outcome = cli.run(PLAYBOOK.format(folder=folder))

    assert outcome.code == 0, outcome.stdout + outcome.stderr
    for name in ("bare", "double", "single"):
        assert (folder / name).read_text() == evil, name
    assert (folder / "joined").read_text() == "$(touch ran)\na b\n"
    assert (folder / "$(touch ran).copy").read_text() == evil
    assert (folder / "let").exists()
    assert (folder / "ran").exists(), "what is let through is run"
    (folder / "ran").unlink()


def test_where_it_cannot_be_sure_the_check_is_unknown_and_nothing_runs(cli: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    (folder / "evil").write_text("x; touch ran")
    outcome = cli.run(
        f"""\
        - hosts: all
          gather_facts: false
          tasks:
            - name: evil
              shell: cat {folder}/evil
              register: evil
            - name: inner
              shell: cd {folder}; sh -c "echo {{{{ evil.stdout }}}}"
        """
    )
    assert outcome.code != 0
    assert "cannot be quoted" in outcome.stdout
    assert not (folder / "ran").exists()
