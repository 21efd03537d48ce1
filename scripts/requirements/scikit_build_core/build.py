"""Stands in for the build backend of an sdist that is only unpacked.

Before pip keeps a source archive it asks the archive's build backend for its metadata. Set-up takes single files out of the archive and
builds them with CMake, so pip gets a name and a version here, nothing else is downloaded and no code of the archive runs. The archive
itself is checked by its hash, as every download is.
"""
import os
import pathlib
import re


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    project = pathlib.Path("pyproject.toml").read_text(encoding="utf-8")
    name, version = (re.search(rf'^{key} *= *"([^"]+)"', project, re.MULTILINE).group(1) for key in ("name", "version"))
    folder = f"{name.replace('-', '_')}-{version}.dist-info"
    os.makedirs(os.path.join(metadata_directory, folder))
    pathlib.Path(metadata_directory, folder, "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    return folder
