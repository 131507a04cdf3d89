//! Archives of arrays: `np.savez` and `np.savez_compressed`.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::CrcReader;
use flate2::read::DeflateDecoder;
use zip::{CompressionMethod, ZipArchive};

use super::Part;
use super::npy::{Array, open, read, wrong};
use crate::DataError;
use crate::notes::listed;

/// The largest array that is accepted of a compressed one, in bytes.
const MOST: u64 = 1 << 31;
/// Compressed arrays up to this size are accepted of every archive.
const ALWAYS: u64 = 1 << 26;
/// Others may have so many times the bytes of the archive.
const TIMES: u64 = 100;

type Archive = ZipArchive<BufReader<File>>;

/// What an archive holds.
pub(super) struct Parts {
    pub train: Part,
    pub test: Option<Part>,
    /// A remark on the arrays that are not read.
    pub note: Option<String>,
}

/// Reads an archive. The arrays are called `x` and `y`, or `x_train` and `y_train`; those of a test part are
/// `x_test` and `y_test`. `clients` (`clients_train`, `clients_test`) may name each example's client.
pub(super) fn parts(path: &Path) -> Result<Parts, DataError> {
    let (file, packed) = open(path)?;
    let broken =
        |error: zip::result::ZipError| wrong(path, "an archive of np.savez", error.to_string());
    let mut archive = ZipArchive::new(file).map_err(broken)?;
    let names: Vec<String> = archive
        .file_names()
        .flatten()
        .map(Cow::into_owned)
        .collect();
    let (train, test) = endings(path, &names)?;
    let has_clients = has(&names, &format!("clients{train}"));
    let mut read = vec![];
    let mut part = |end: &str| {
        let mut get = |what: &str| {
            let name = format!("{what}{end}");
            let array = array(&mut archive, (path, packed), &name);
            read.push(format!("{name}.npy"));
            array
        };
        Ok::<_, DataError>(Part {
            x: get("x")?,
            y: get("y")?,
            clients: match has_clients && has(&names, &format!("clients{end}")) {
                true => Some(get("clients")?),
                false => None,
            },
        })
    };
    let (train, test) = (part(train)?, test.map(part).transpose()?);
    let unread: Vec<String> = names.into_iter().filter(|n| !read.contains(n)).collect();
    let note = (!unread.is_empty()).then(|| {
        format!(
            "{}: arrays that are not read: {}",
            path.display(),
            listed(&unread)
        )
    });
    Ok(Parts { train, test, note })
}

/// What the names of the training arrays end with, and those of the test arrays if there are some.
fn endings(
    path: &Path,
    names: &[String],
) -> Result<(&'static str, Option<&'static str>), DataError> {
    let pair = |end: &str| ["x", "y"].map(|what| has(names, &format!("{what}{end}")));
    let train = match (pair("") == [true; 2], pair("_train") == [true; 2]) {
        (true, false) => "",
        (false, true) => "_train",
        (both, _) => {
            let expected = "arrays `x` and `y`, or `x_train` and `y_train`";
            let found = match (both, names.is_empty()) {
                (true, _) => "both pairs; remove one".to_owned(),
                (false, true) => "an empty archive".to_owned(),
                (false, false) => format!("{}; rename them", listed(names)),
            };
            return Err(wrong(path, expected, found));
        }
    };
    let test = match pair("_test") {
        [true, true] => Some("_test"),
        [false, false] => None,
        _ => {
            let expected = "both arrays of a test part, `x_test` and `y_test`, or neither";
            let found = format!("{}; rename or remove them", listed(names));
            return Err(wrong(path, expected, found));
        }
    };
    Ok((train, test))
}

fn has(names: &[String], array: &str) -> bool {
    let mut names = names.iter();
    names.any(|name| name.strip_suffix(".npy") == Some(array))
}

/// Reads an array of an archive of `packed` bytes.
fn array(
    archive: &mut Archive,
    (path, packed): (&Path, u64),
    name: &str,
) -> Result<(PathBuf, Array), DataError> {
    let inside = path.join(format!("{name}.npy"));
    let broken = |error: zip::result::ZipError| wrong(&inside, "an array", error.to_string());
    let index = archive.index_for_name(&format!("{name}.npy"));
    let index = index.ok_or_else(|| wrong(&inside, "an array", "none"))?;
    let entry = archive.by_index_raw(index).map_err(broken)?;
    let (size, method, sum) = (entry.size(), entry.compression(), entry.crc32());
    let limit = packed.saturating_mul(TIMES).clamp(ALWAYS, MOST);
    if method != CompressionMethod::Stored && size > limit {
        let expected = format!("at most {limit} bytes in a compressed array");
        return Err(wrong(&inside, expected, format!("{size}; use np.savez")));
    }
    // The entry is unpacked here, so that the archive's own features do not matter.
    let reader: Box<dyn Read + '_> = if method == CompressionMethod::Stored {
        Box::new(entry)
    } else if method == CompressionMethod::DEFLATE {
        Box::new(DeflateDecoder::new(entry))
    } else {
        let found = method.to_string();
        return Err(wrong(&inside, "a stored or deflated array", found));
    };
    let mut summed = CrcReader::new(reader);
    let array = read(&mut summed, &inside, size)?;
    let found = summed.crc().sum();
    if found != sum {
        let expected = format!("an array whose checksum is {sum:08x}");
        let found = format!("{found:08x}; the archive is damaged");
        return Err(wrong(&inside, expected, found));
    }
    Ok((inside, array))
}
