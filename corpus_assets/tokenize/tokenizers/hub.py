"""The files of a tokenizer on the Hugging Face hub, as bytes; nothing of a repository is ever run."""

from corpus_assets.tokenize.tokenizers.files import FOLDER_FILES, MAX_FILE_BYTES, folder_files
from resources.config_files import read_outside
from resources.errors import BadFileError, ConfigError, StorageError, raise_machine_fault
from resources.hub_client import first_line, hub_api


def download(name: str, revision: str) -> dict[str, bytes]:
    """Returns the contents of the tokenizer files of a repository at a revision (branch, tag or commit), by file name.

    A branch is looked up once, so all files are of the same commit. A token for gated repositories is taken from
    the environment (`HF_TOKEN`). Raises ConfigError when the repository, its tokenizer or the network is not there,
    BadFileError for a file that is too large, StorageError where the machine fails. Downloads stay in the hub's own
    cache folder.
    """
    from huggingface_hub import hf_hub_download

    try:
        found = hub_api().model_info(name, revision=revision, files_metadata=True)
        sizes = {file.rfilename: file.size or 0 for file in found.siblings or ()}
        wanted = folder_files(sizes)
        for file in wanted:
            if sizes[file] > MAX_FILE_BYTES:
                raise BadFileError(f"{name}/{file}", f"has {sizes[file]} bytes; valid: at most {MAX_FILE_BYTES}")
        places = {file: hf_hub_download(name, file, revision=found.sha) for file in wanted}
        files = {file: read_outside(name, place, MAX_FILE_BYTES) for file, place in places.items()}
    except (BadFileError, StorageError):
        raise
    except Exception as error:  # errors of several libraries, which differ between releases
        raise_machine_fault(f"tokenizer {name!r}", error)
        problem = first_line(str(error)) or type(error).__name__
        raise ConfigError(
            f"tokenizer {name!r} at revision {revision!r} cannot be downloaded: {problem}; valid: a public repository, "
            "or one that the token in HF_TOKEN may read, with the hub within reach; or a folder (kind huggingface)"
        ) from None
    if not files:
        raise ConfigError(f"{name!r} has no tokenizer; valid: a repository with one of {', '.join(FOLDER_FILES)}")
    return files
