//! `fedround data fetch`: downloads a dataset's files from their publisher and checks their sums.
#![cfg_attr(
    not(feature = "download"),
    allow(
        dead_code,
        reason = "without downloads, only sources and checksums are used"
    )
)]

mod checksum;
#[cfg(feature = "download")]
mod download;
mod error;
#[cfg(feature = "download")]
mod get;
mod sources;
#[cfg(all(test, feature = "download"))]
mod tests;

use fedround_data::DatasetInfo;

use super::args::FetchArgs;
use super::error::DataCommandError;
#[cfg(feature = "download")]
use get::get;

pub(super) use checksum::Checksum;
pub(super) use error::FetchError;
pub(super) use sources::source_of;

/// Runs the subcommand.
pub(super) fn fetch(args: &FetchArgs) -> Result<String, DataCommandError> {
    let info = DatasetInfo::find(&args.name)?;
    let dir = &args.folder.data_dir;
    if info.files.is_empty() {
        return Ok(format!("{} needs no files\n", info.name));
    }
    let failed = |source| DataCommandError::Fetch {
        source: Box::new(source),
        by_hand: format!("{}, where DIR is {}", info.how, dir.display()),
    };
    let sources = sources::of(info.name);
    if sources.is_empty() {
        let name = info.name;
        return Err(failed(FetchError::NotPublished { name }));
    }
    let mut text = String::new();
    for source in sources {
        text += &get(source, args.mirror.as_deref(), dir).map_err(failed)?;
    }
    Ok(text)
}

#[cfg(not(feature = "download"))]
fn get(_: &sources::Source, _: Option<&str>, _: &std::path::Path) -> Result<String, FetchError> {
    Err(FetchError::NotBuilt)
}
