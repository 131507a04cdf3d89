//! Archives of arrays: `np.savez` and `np.savez_compressed`.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::CrcReader;
use flate2::read::DeflateDecoder;
use zip::{CompressionMethod, ZipArchive};

use super::Part;
use super::npy::{Array, read, wrong};
use crate::DataError;
use crate::notes::listed;
use crate::own::DataLocation;

/// The largest array that is accepted of a compressed one, in bytes.
const MOST: u64 = 1 << 31;
/// Compressed arrays up to this size are accepted of every archive.
const ALWAYS: u64 = 1 << 26;
/// Others may have so many times the bytes of the archive.
const TIMES: u64 = 100;

type Archive = ZipArchive<BufReader<File>>;

/// The training part, and the test part if there is one. The arrays are called `x` and `y`, or `x_train`,
/// `y_train`, `x_test` and `y_test`; `clients` (`clients_train`, `clients_test`) may name each example's client.
pub(super) fn parts(path: &Path) -> Result<(Part, Option<Part>), DataError> {
    if !path.is_file() {
        return Err(DataLocation::missing(path, "a file"));
    }
    let unreadable = |source| DataError::Read {
        path: path.to_path_buf(),
        source,
    };
    let file = File::open(path).map_err(unreadable)?;
    let packed = file.metadata().map_err(unreadable)?.len();
    let broken =
        |error: zip::result::ZipError| wrong(path, "an archive of np.savez", error.to_string());
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(broken)?;
    let names: Vec<String> = archive
        .file_names()
        .flatten()
        .map(Cow::into_owned)
        .collect();
    let has = |name: &str| names.iter().any(|n| n.strip_suffix(".npy") == Some(name));
    let (train, test) = match (has("x") && has("y"), has("x_train") && has("y_train")) {
        (true, _) => ("", None),
        (_, true) => (
            "_train",
            (has("x_test") && has("y_test")).then_some("_test"),
        ),
        _ => {
            let expected = "arrays `x` and `y`, or `x_train` and `y_train`";
            let found = match names.is_empty() {
                true => "an empty archive".to_owned(),
                false => format!("{}; rename them", listed(&names)),
            };
            return Err(wrong(path, expected, found));
        }
    };
    let mut part = |end: &str| {
        let clients = format!("clients{end}");
        Ok::<_, DataError>(Part {
            x: array(&mut archive, (path, packed), &format!("x{end}"))?,
            y: array(&mut archive, (path, packed), &format!("y{end}"))?,
            clients: match has(&clients) {
                true => Some(array(&mut archive, (path, packed), &clients)?),
                false => None,
            },
        })
    };
    Ok((part(train)?, test.map(part).transpose()?))
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
