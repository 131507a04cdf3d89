//! Gets one file from its publisher: downloads, checks and unpacks it.

use std::fs::File;
use std::path::Path;

use flate2::read::GzDecoder;
use indicatif::{ProgressBar, ProgressStyle};

use super::download::{Outcome, download};
use super::error::FetchError;
use super::fetched::Fetched;
use super::sources::Source;

/// Gets one file, and unpacks it if it is an archive.
pub(super) fn get(
    source: &Source,
    mirror: Option<&str>,
    dir: &Path,
) -> Result<Fetched, FetchError> {
    let url = match mirror {
        Some(mirror) => format!("{}/{}", mirror.trim_end_matches('/'), source.name()),
        None => source.url.to_owned(),
    };
    let target = dir.join(source.place);
    let bar = progress(source.name());
    let outcome = download(&url, &target, source.sum, &mut |found, all| {
        bar.set_length(all.unwrap_or(found));
        bar.set_position(found);
    });
    bar.finish_and_clear();
    let fetched = outcome? == Outcome::Fetched;
    if source.archive {
        unpack(&target, dir)?;
    }
    Ok(Fetched {
        file: target,
        fetched,
        unpacked: source.archive.then(|| dir.to_owned()),
    })
}

/// Unpacks a `.tar.gz`, which stays where it is, so that it need not be fetched again.
pub(super) fn unpack(archive: &Path, dir: &Path) -> Result<(), FetchError> {
    let unpacked =
        File::open(archive).and_then(|file| tar::Archive::new(GzDecoder::new(file)).unpack(dir));
    unpacked.map_err(FetchError::file("unpack", archive))
}

/// A bar on a terminal, nothing elsewhere.
fn progress(name: &str) -> ProgressBar {
    let template = "{msg} {bar:24} {bytes}/{total_bytes}  {eta} left";
    let style = ProgressStyle::with_template(template);
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(0)
        .with_style(style)
        .with_message(name.to_owned())
}
