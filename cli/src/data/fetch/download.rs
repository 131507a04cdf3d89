//! Downloads one file over HTTP, and tries again if the connection breaks.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ureq::http::header::CONTENT_RANGE;
use ureq::{Agent, Body, http::Response};

use super::checksum::Checksum;
use super::error::FetchError;

/// What had to be done for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Nothing.
    There,
    Fetched,
}

/// A server that says nothing for this long is not there.
const PATIENCE: Duration = Duration::from_secs(if cfg!(test) { 2 } else { 30 });

/// Gets the file at `url` to `target`, unless it is there with the right sum. What
/// has come so far is in `target.part`, from whose end an interrupted download goes
/// on; `target` appears when it is whole and its sum is right. Only one process at a
/// time writes to `target.part`. `report` hears how many bytes there are, and of
/// how many.
pub(super) fn download(
    url: &str,
    target: &Path,
    sum: Checksum,
    report: &mut dyn FnMut(u64, Option<u64>),
) -> Result<Outcome, FetchError> {
    if target.is_file() {
        let found = sum
            .of_file(target)
            .map_err(FetchError::file("read", target))?;
        if found == sum.text() {
            return Ok(Outcome::There);
        }
    }
    let part = PathBuf::from(format!("{}.part", target.display()));
    let mut start = fs::metadata(&part).map_or(0, |m| m.len());
    // It stays locked until it has another name.
    let mut file = loop {
        match transfer(url, &part, start, report)? {
            Some(file) => break file,
            // What was there is no beginning of the file.
            None => start = 0,
        }
    };
    let found = file.rewind().and_then(|()| sum.of_rest(&mut file));
    let found = found.map_err(FetchError::file("read", &part))?;
    if found != sum.text() {
        fs::remove_file(&part).map_err(FetchError::file("remove", &part))?;
        return Err(FetchError::Checksum {
            url: url.to_owned(),
            kind: sum.kind(),
            expected: sum.text(),
            found,
        });
    }
    fs::rename(&part, target).map_err(FetchError::file("write", target))?;
    Ok(Outcome::Fetched)
}

/// Appends to `part` what follows its first `start` bytes, and gives it, locked;
/// `None` if the server has no such bytes.
fn transfer(
    url: &str,
    part: &Path,
    start: u64,
    report: &mut dyn FnMut(u64, Option<u64>),
) -> Result<Option<File>, FetchError> {
    let response = request(url, start)?;
    let start = match response.status().as_u16() {
        200 => 0,
        206 if starts_at(&response, start) => start,
        206 | 416 if start > 0 => return Ok(None),
        status => {
            let url = url.to_owned();
            return Err(FetchError::Status { url, status });
        }
    };
    let expected = response.body().content_length().map(|n| n + start);
    let mut body = response.into_body().into_reader();
    if let Some(parent) = part.parent() {
        fs::create_dir_all(parent).map_err(FetchError::file("create", parent))?;
    }
    let failed = FetchError::file("write", part);
    let mut file = open(part, start)?;
    let (mut found, mut piece) = (start, vec![0; 1 << 16]);
    let mut read = body.read(&mut piece);
    while let Ok(n @ 1..) = read {
        file.write_all(&piece[..n]).map_err(&failed)?;
        found += n as u64;
        report(found, expected);
        read = body.read(&mut piece);
    }
    file.flush().map_err(&failed)?;
    // A body that ends early is an error of the reader, as silence is, or short.
    match expected.map_or(read.is_ok(), |n| n == found) {
        true => Ok(Some(file)),
        false => Err(FetchError::BreaksOff {
            url: url.to_owned(),
            found,
            expected,
        }),
    }
}

fn request(url: &str, start: u64) -> Result<Response<Body>, FetchError> {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .timeout_connect(Some(PATIENCE))
        .timeout_recv_response(Some(PATIENCE))
        // A file may take hours, but not a piece of it.
        .timeout_per_read(Some(PATIENCE));
    let agent = config.build().new_agent();
    let mut request = agent.get(url);
    if start > 0 {
        request = request.header("Range", format!("bytes={start}-"));
    }
    request.call().map_err(|source| FetchError::Reach {
        url: url.to_owned(),
        source: Box::new(source),
    })
}

/// Whether a partial answer starts where it was asked to.
fn starts_at(response: &Response<Body>, start: u64) -> bool {
    let range = response.headers().get(CONTENT_RANGE);
    let range = range.and_then(|r| r.to_str().ok()).unwrap_or_default();
    range.starts_with(&format!("bytes {start}-"))
}

/// Opens `part` behind its first `start` bytes, and keeps other processes away from
/// it until it is closed.
fn open(part: &Path, start: u64) -> Result<File, FetchError> {
    let path = || part.to_path_buf();
    let failed = FetchError::file("write", part);
    let mut options = OpenOptions::new();
    // Not emptied before it is ours.
    let options = options.create(start == 0).truncate(false);
    let mut file = options.read(true).write(true).open(part).map_err(&failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(FetchError::Busy { path: path() }),
        // Some file systems have no locks.
        Err(TryLockError::Error(source)) if source.kind() == ErrorKind::Unsupported => {}
        Err(TryLockError::Error(source)) => return Err(failed(source)),
    }
    // Until then, another process may have gone on with it, or given it its last name.
    let found = file.metadata().map_err(&failed)?.len();
    if !part.exists() || (start > 0 && start != found) {
        return Err(FetchError::Busy { path: path() });
    }
    file.set_len(start).map_err(&failed)?;
    file.seek(SeekFrom::End(0)).map_err(&failed)?;
    Ok(file)
}
