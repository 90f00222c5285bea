//! The layout of the Hugging Face cache, in which a model's folder contains its revisions.
//!
//! ```text
//! models--Qwen--Qwen3-8B/refs/main               the revision of the branch main: b968826d…
//! models--Qwen--Qwen3-8B/snapshots/b968826d…/    the files of that revision
//! ```
//!
//! The layout is that of `huggingface_hub`.

use std::borrow::Cow;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use super::roots;

const SNAPSHOTS: &str = "snapshots";

/// The maximum number of bytes of a revision's name.
const MAX_REVISION: u64 = 256;

/// The maximum number of revisions that are counted.
const MAX_REVISIONS: usize = 1000;

/// Returns the folder with a model's files. In a model's folder of the cache, this is the revision of `main` or the only revision. Any
/// other path is returned unchanged.
///
/// # Errors
/// If a model's folder of the cache has no revision, or several and no `refs/main`.
pub(super) fn find_model_folder(path: &Path) -> Result<Cow<'_, Path>, String> {
    let snapshots = path.join(SNAPSHOTS);
    if model_name(path).is_none() || !snapshots.is_dir() {
        return Ok(Cow::Borrowed(path));
    }
    if let Some(revision) = read_revision(&path.join("refs/main")) {
        let folder = snapshots.join(revision);
        if folder.is_dir() {
            return Ok(Cow::Owned(folder));
        }
    }
    let entries = std::fs::read_dir(&snapshots).map_err(|error| error.to_string())?;
    let folders = entries.filter_map(|entry| Some(entry.ok()?.path()).filter(|path| path.is_dir()));
    let mut folders: Vec<PathBuf> = folders.take(MAX_REVISIONS).collect();
    match (folders.pop(), folders.len()) {
        (Some(folder), 0) => Ok(Cow::Owned(folder)),
        (None, _) => Err("has no revision of the model: snapshots is empty; download the model again".to_owned()),
        (Some(_), others) => Err(format!(
            "has {} revisions, and refs/main names none of them; pass one of the folders in snapshots",
            others + 1
        )),
    }
}

/// Returns the name in a file of `refs`, if the file has nothing else.
fn read_revision(path: &Path) -> Option<String> {
    let mut text = String::new();
    let file = roots::open(path).ok()?;
    file.metadata().ok().filter(|metadata| metadata.is_file())?;
    file.take(MAX_REVISION).read_to_string(&mut text).ok()?;
    let name = text.trim();
    // A path could lead out of the model's folder.
    let mut parts = Path::new(name).components();
    let is_name = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
    is_name.then(|| name.to_owned())
}

/// Returns the folder `blobs`, to which the files of a revision link. Returns `None` if `folder` is not in `snapshots`.
pub(super) fn find_blobs(folder: &Path) -> Option<PathBuf> {
    let snapshots = folder.parent().filter(|parent| parent.ends_with(SNAPSHOTS))?;
    let model = snapshots.parent().filter(|model| model_name(model).is_some())?;
    Some(model.join("blobs"))
}

/// Returns the name of a model and the beginning of its revision, such as `Qwen/Qwen3-8B@b968826d`, for a folder in `snapshots`.
#[cfg(feature = "internal")]
pub fn revision_name(path: &Path) -> Option<String> {
    let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
    let [.., model, SNAPSHOTS, revision] = parts.as_slice() else {
        return None;
    };
    let model = model_name(Path::new(model))?;
    let revision: String = revision.chars().take(8).collect();
    Some(format!("{model}@{revision}"))
}

/// Returns the name of the model that a folder of the cache belongs to: `Qwen/Qwen3-8B` for `models--Qwen--Qwen3-8B`.
fn model_name(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.strip_prefix("models--")?;
    Some(name.replace("--", "/"))
}
