//! Opens files within a folder that someone else may change at the same time.
//!
//! ```text
//! model/chat_template.jinja -> real.jinja   model/real.jinja is opened, and must not be a link
//! model/chat_template.jinja -> /etc/passwd  refused: no root has /etc/passwd
//! ```
//!
//! A path is resolved first. The result has no links, and is then opened from its root name by name, where a name that has become a link is
//! an error. So a link that changes between the check and the opening leads nowhere else.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// A folder in which files may be read.
pub(super) struct Root {
    path: PathBuf,
    #[cfg(unix)]
    folder: std::os::fd::OwnedFd,
}

#[cfg(unix)]
impl Root {
    /// Opens a folder whose path has no links.
    pub fn open(path: PathBuf) -> io::Result<Self> {
        let folder = unix::open(&path, unix::FOLDER)?;
        Ok(Self { path, folder })
    }

    /// Opens a file or a folder by its path, which has no links, or returns `None` if it is not in this root.
    pub fn find(&self, path: &Path) -> Option<io::Result<File>> {
        let rest = path.strip_prefix(&self.path).ok()?;
        Some(unix::open_within(&self.folder, rest).map_err(Into::into))
    }
}

/// Opens a path, and follows links. It does not wait for a writer, as opening a pipe does.
#[cfg(unix)]
pub(super) fn open(path: &Path) -> io::Result<File> {
    Ok(unix::open(path, unix::FILE)?.into())
}

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::os::fd::OwnedFd;
    use std::path::Path;

    use rustix::fs::{Mode, OFlags, openat};
    use rustix::io::Result;

    /// A file is opened without waiting, and does not become the terminal of the process.
    pub const FILE: OFlags = OFlags::RDONLY
        .union(OFlags::NONBLOCK)
        .union(OFlags::NOCTTY)
        .union(OFlags::CLOEXEC);

    /// A folder is only gone through. On Linux this needs no right to read it.
    #[cfg(target_os = "linux")]
    pub const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
    #[cfg(not(target_os = "linux"))]
    pub const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

    pub fn open(path: &Path, flags: OFlags) -> Result<OwnedFd> {
        rustix::fs::open(path, flags, Mode::empty())
    }

    /// Opens a path from a folder name by name. No name may be a link.
    pub fn open_within(root: &OwnedFd, path: &Path) -> Result<File> {
        let mut names = path.iter().peekable();
        let mut folder = None;
        while let Some(name) = names.next() {
            let flags = if names.peek().is_some() { FOLDER } else { FILE };
            let from = folder.as_ref().unwrap_or(root);
            folder = Some(openat(from, name, flags | OFlags::NOFOLLOW, Mode::empty())?);
        }
        match folder {
            Some(opened) => Ok(opened.into()),
            None => Ok(openat(root, ".", FILE, Mode::empty())?.into()),
        }
    }
}

#[cfg(not(unix))]
impl Root {
    /// Makes a root of a folder whose path has no links.
    pub fn open(path: PathBuf) -> io::Result<Self> {
        Ok(Self { path })
    }

    /// Opens a file by its path, which has no links, or returns `None` if it is not in this root.
    pub fn find(&self, path: &Path) -> Option<io::Result<File>> {
        path.starts_with(&self.path).then(|| open(path))
    }
}

/// Opens a path, and follows links.
#[cfg(not(unix))]
pub(super) fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::symlink;

    use super::Root;

    /// Reads a file of the root by the path that it had when the path was resolved.
    fn read(root: &Root, path: &str) -> Option<String> {
        let mut text = String::new();
        let file = root.find(&root.path.join(path))?;
        file.ok()?.read_to_string(&mut text).ok()?;
        Some(text)
    }

    #[test]
    fn a_name_that_has_become_a_link_is_not_followed() {
        let folder = std::env::temp_dir().join(format!("chat-template-roots-{}", std::process::id()));
        let inner = folder.join("model/inner");
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join("file"), "own").unwrap();
        fs::write(folder.join("file"), "other").unwrap();
        let root = Root::open(folder.join("model").canonicalize().unwrap()).unwrap();
        assert_eq!(read(&root, "inner/file").as_deref(), Some("own"));
        assert!(root.find(&folder.join("file")).is_none());
        fs::remove_file(inner.join("file")).unwrap();
        symlink("../../file", inner.join("file")).unwrap();
        assert_eq!(read(&root, "inner/file"), None);
        fs::remove_dir_all(&inner).unwrap();
        symlink("..", &inner).unwrap();
        assert_eq!(read(&root, "inner/file"), None);
        fs::remove_dir_all(&folder).unwrap();
    }
}
