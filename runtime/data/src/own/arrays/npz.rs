//! Archives of arrays: `np.savez` and `np.savez_compressed`.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::DeflateDecoder;
use zip::{CompressionMethod, ZipArchive};

use super::Part;
use super::npy::{Array, read, wrong};
use crate::DataError;
use crate::own::DataLocation;

/// The largest array that is accepted of a compressed one, in bytes.
const MOST: u64 = 1 << 31;

type Archive = ZipArchive<BufReader<File>>;

/// The training part, and the test part if there is one. The arrays are called `x` and `y`, or `x_train`,
/// `y_train`, `x_test` and `y_test`; `clients` (`clients_train`, `clients_test`) may name each example's client.
pub(super) fn parts(path: &Path) -> Result<(Part, Option<Part>), DataError> {
    if !path.is_file() {
        return Err(DataLocation::missing(path));
    }
    let file = File::open(path).map_err(|source| DataError::Read {
        path: path.to_path_buf(),
        source,
    })?;
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
            return Err(wrong(
                path,
                expected,
                format!("{}; rename them", names.join(", ")),
            ));
        }
    };
    let mut part = |end: &str| {
        let clients = format!("clients{end}");
        Ok::<_, DataError>(Part {
            x: array(&mut archive, path, &format!("x{end}"))?,
            y: array(&mut archive, path, &format!("y{end}"))?,
            clients: match has(&clients) {
                true => Some(array(&mut archive, path, &clients)?),
                false => None,
            },
        })
    };
    Ok((part(train)?, test.map(part).transpose()?))
}

fn array(archive: &mut Archive, path: &Path, name: &str) -> Result<(PathBuf, Array), DataError> {
    let inside = path.join(format!("{name}.npy"));
    let broken = |error: zip::result::ZipError| wrong(&inside, "an array", error.to_string());
    let index = archive.index_for_name(&format!("{name}.npy"));
    let index = index.ok_or_else(|| wrong(&inside, "an array", "none"))?;
    let entry = archive.by_index_raw(index).map_err(broken)?;
    let (size, method) = (entry.size(), entry.compression());
    if method != CompressionMethod::Stored && size > MOST {
        let expected = format!("at most {MOST} bytes in a compressed array");
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
    let array = read(reader, &inside, size)?;
    Ok((inside, array))
}
