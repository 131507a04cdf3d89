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
mod fetched;
#[cfg(feature = "download")]
mod get;
mod sources;
#[cfg(all(test, feature = "download"))]
mod tests;

use fedround_data::DatasetInfo;
use serde::Serialize;

use super::args::FetchArgs;
use super::error::DataCommandError;
use crate::error::CliError;
use crate::files::json;
use fetched::Fetched;
#[cfg(feature = "download")]
use get::get;

pub(super) use checksum::Checksum;
pub(super) use error::FetchError;
pub(super) use sources::source_of;

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
    dataset: &'static str,
    /// None of data that is built in.
    files: Vec<Fetched>,
}

pub(super) fn fetch(args: &FetchArgs) -> Result<String, CliError> {
    let info = DatasetInfo::find(&args.name).map_err(DataCommandError::from)?;
    let dir = &args.folder.data_dir;
    if info.files.is_empty() && !args.json {
        return Ok(format!("{} needs no files\n", info.name));
    }
    let failed = |source| DataCommandError::Fetch {
        source: Box::new(source),
        by_hand: format!("{}, where DIR is {}", info.how, dir.display()),
    };
    let sources = sources::of(info.name);
    if sources.is_empty() && !info.files.is_empty() {
        let name = info.name;
        return Err(failed(FetchError::NotPublished { name }).into());
    }
    let mirror = args.mirror.as_deref();
    let files = sources
        .iter()
        .map(|source| get(source, mirror, dir).map_err(failed));
    let files: Vec<Fetched> = files.collect::<Result<_, _>>()?;
    match args.json {
        true => json(&Report {
            dataset: info.name,
            files,
        }),
        false => Ok(files.iter().map(Fetched::line).collect()),
    }
}

#[cfg(not(feature = "download"))]
fn get(_: &sources::Source, _: Option<&str>, _: &std::path::Path) -> Result<Fetched, FetchError> {
    Err(FetchError::NotBuilt)
}
