//! Where decoded images are kept.

use std::path::Path;

use md5::{Digest, Md5};

use crate::ImageFiles;
use crate::own::data_location::last;

/// Bytes of decoded images that memory holds.
const MEMORY: usize = 1 << 28;
/// Bytes of decoded images that a file holds.
const DISK: u64 = 1 << 32;

/// The files with a place for their decoded images: memory if all of them fit there, or else a file in the folder
/// `cache`. If there is no such folder, memory holds a part of them.
pub(super) fn kept(
    mut files: ImageFiles,
    dir: &Path,
    cache: Option<&Path>,
    notes: &mut Vec<String>,
) -> ImageFiles {
    let [channels, height, width] = files.shape();
    let fit = files.len() * channels * height * width <= MEMORY;
    let Some(cache) = cache.filter(|_| !fit) else {
        return files.with_cache(MEMORY);
    };
    let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.to_path_buf());
    let digest = format!("{:x}", Md5::digest(dir.as_os_str().as_encoded_bytes()));
    let name = format!("{}-{channels}x{height}x{width}-{digest}", last(&dir));
    let path = cache.join(name);
    match files.keep_on_disk(&path, DISK) {
        Ok(()) => files,
        Err(error) => {
            let path = path.display();
            notes.push(format!(
                "images are decoded again in each epoch, because {path} cannot keep them: {error}"
            ));
            files.with_cache(MEMORY)
        }
    }
}
