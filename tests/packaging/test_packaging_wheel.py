"""What is shipped, and that it works where it is installed: as a wheel, from the source archive, editable.

No network: build and installation use what this environment has. The environments made here see this one's packages
through a `.pth` file, and their own checkrunner first.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

from checkrunner import __version__

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "checkrunner"


def git_files(*folders: str) -> list[str]:
    """Tracked files of these folders; everything in them where the checkout is an unpacked archive."""
    if not (ROOT / ".git").exists():
        paths = [p for folder in folders for p in (ROOT / folder).rglob("*") if p.is_file()]
        return sorted(str(p.relative_to(ROOT)) for p in paths if "__pycache__" not in p.parts)
    command = ["git", "-c", f"safe.directory={ROOT}", "-C", str(ROOT), "ls-files", "--", *folders]
    return sorted(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


def build_wheel(source: Path, folder: Path) -> Path:
    (wheel,) = WheelBuilder(str(source)).build(directory=str(folder), versions=["standard"])
    return Path(wheel)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def unpacked_sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    (archive,) = SdistBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    (top,) = [path for path in folder.iterdir() if path.is_dir()]
    return top


class Environment:
    """A virtual environment that sees our dependencies but not this checkout."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, symlinks=True, with_pip=False)
        self.python = folder / "bin" / "python"
        self.site = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder), "platbase": str(folder)}))
        # Dependencies come from the running environment; an editable checkrunner there would hide a broken wheel, so
        # its finder is not taken over: `.pth` files in a folder that comes from a `.pth` file are not read.
        (self.site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")

    def install(self, wheel: Path) -> None:
        """What an installer does with a pure wheel: unpack it."""
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(self.site)

    def run(self, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": os.environ["PATH"], "HOME": str(cwd), "LC_ALL": "C.UTF-8"}
        return subprocess.run(
            [str(self.python), *arguments], cwd=cwd, env=environment, capture_output=True, text=True, timeout=60
        )

    def checkrunner(self, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """The command as its entry point starts it."""
        start = "import sys; from checkrunner.__main__ import main; sys.argv[0] = 'checkrunner'; main()"
        return self.run("-c", start, *arguments, cwd=cwd)


def names(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return sorted(name for name in archive.namelist() if ".dist-info/" not in name)


def test_the_wheel_holds_the_package_and_what_is_sent_to_hosts(wheel: Path) -> None:
    package = [name for name in git_files("checkrunner") if (ROOT / name).is_file()]
    data = [f"checkrunner/_{name}" for name in git_files("remote", "playbooks")]

    untracked = {name for name in names(wheel) if name.endswith(".py")} - set(package) - set(data)
    # A file that is not tracked yet is in the wheel as well while somebody writes it; nothing else may be.
    assert {name for name in untracked if not (ROOT / name).is_file()} == set()
    assert sorted(set(package) | set(data)) == [name for name in names(wheel) if name not in untracked]


def test_the_wheel_holds_no_package_of_what_is_sent() -> None:
    assert not (ROOT / "remote" / "__init__.py").exists()
    assert not (PACKAGE / "_remote").exists()
    assert not (PACKAGE / "_playbooks").exists()


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        info = f"checkrunner-{__version__}.dist-info"
        metadata = archive.read(f"{info}/METADATA").decode()
        entry_points = archive.read(f"{info}/entry_points.txt").decode()
        licence = archive.read(f"{info}/licenses/LICENSE").decode()

    assert "License-Expression: Apache-2.0" in metadata
    assert "Requires-Python: >=3.11" in metadata
    assert "checkrunner = checkrunner.__main__:main" in entry_points
    assert "Apache License" in licence


def check_installed(environment: Environment, folder: Path, inside: Path) -> None:
    """It runs, it finds its playbooks and its agent, and all of that from where it was installed."""
    origin = environment.run("-c", "import checkrunner; print(checkrunner.__file__)", cwd=folder)
    version = environment.checkrunner("--version", cwd=folder)
    checks = environment.checkrunner("checks", "linux-health", cwd=folder)
    payload = environment.run(
        "-c", "from checkrunner.link.payload import load_payload; print(load_payload().digest)", cwd=folder
    )

    assert Path(origin.stdout.strip()).is_relative_to(inside), origin.stderr
    assert (version.returncode, version.stdout, version.stderr) == (0, f"checkrunner {__version__}\n", "")
    assert checks.returncode == 0, checks.stderr
    assert "read-only-mounts" in checks.stdout
    assert payload.returncode == 0, payload.stderr
    assert payload.stdout.strip()


def test_it_works_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    environment = Environment(tmp_path / "venv")
    environment.install(wheel)

    check_installed(environment, tmp_path, environment.site)


def test_it_works_from_the_source_archive(unpacked_sdist: Path, wheel: Path, tmp_path: Path) -> None:
    rebuilt = build_wheel(unpacked_sdist, tmp_path / "dist")
    environment = Environment(tmp_path / "venv")
    environment.install(rebuilt)

    assert names(rebuilt) == names(wheel)
    check_installed(environment, tmp_path, environment.site)


def test_the_source_archive_is_enough_to_work_on(unpacked_sdist: Path) -> None:
    wanted: Sequence[str] = (
        "Makefile", "scripts/setup", "tests/packaging/test_packaging_wheel.py", "docs/protocol.md", "README.md", "LICENSE",
        "pyproject.toml", "remote/agent.py", "playbooks/linux-health.yml",
    )  # fmt: skip

    assert [name for name in wanted if not (unpacked_sdist / name).is_file()] == []


def test_it_works_editable(tmp_path: Path) -> None:
    environment = Environment(tmp_path / "venv")
    (built,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path / "dist"), versions=["editable"])
    environment.install(Path(built))

    check_installed(environment, tmp_path, PACKAGE)


def test_nothing_that_git_ignores_is_shipped(wheel: Path) -> None:
    assert [name for name in names(wheel) if "__pycache__" in name or name.endswith((".pyc", ".orig", "~"))] == []


def test_the_running_interpreter_is_new_enough() -> None:
    assert sys.version_info >= (3, 11)
