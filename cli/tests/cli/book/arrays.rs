//! Files of NumPy.

use flate2::Crc;

/// A file of `np.save`.
pub fn npy(kind: &str, shape: &str, elements: Vec<u8>) -> Vec<u8> {
    let head = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}");
    let head = format!("{head:117}\n");
    let bytes = [b"\x93NUMPY\x01\x00".as_slice(), &118_u16.to_le_bytes()].concat();
    [bytes, head.into_bytes(), elements].concat()
}

/// A file of `np.savez`: a zip archive of stored entries.
pub fn npz(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let (mut archive, mut directory) = (vec![], vec![]);
    for (name, bytes) in arrays {
        let name = format!("{name}.npy");
        let mut crc = Crc::new();
        crc.update(bytes);
        let size = (bytes.len() as u32).to_le_bytes();
        // Version, flags, method, time and date; then the checksum, both sizes and the lengths of names.
        let mut common = vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        common.extend([crc.sum().to_le_bytes(), size, size].concat());
        common.extend([name.len() as u8, 0, 0, 0]);
        let offset = (archive.len() as u32).to_le_bytes();
        archive.extend([b"PK\x03\x04", &common[..], name.as_bytes(), bytes].concat());
        let entry = [b"PK\x01\x02\x14\x00", &common[..], &[0; 10], &offset];
        directory.extend([&entry.concat(), name.as_bytes()].concat());
    }
    let count = (arrays.len() as u16).to_le_bytes();
    let places = [directory.len(), archive.len()].map(|n| (n as u32).to_le_bytes());
    let end = [&[0; 4], &count[..], &count, &places.concat(), &[0; 2]].concat();
    [archive, directory, b"PK\x05\x06".to_vec(), end].concat()
}
