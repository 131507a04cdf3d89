//! Archives as `torch.save` writes them: zip files whose entries are stored as they are.

use std::collections::BTreeMap;

use super::cursor::Cursor;

/// What 32 bits cannot hold is in 64, elsewhere.
const ELSEWHERE: u64 = 0xffff_ffff;

/// The entries by their names, without the folder that they are all in.
pub(super) fn entries(bytes: &[u8]) -> Result<BTreeMap<String, &[u8]>, String> {
    let (count, place) = directory(bytes)?;
    let mut directory = Cursor::at(bytes, place)?;
    let entries = (0..count).map(|_| entry(bytes, &mut directory));
    entries.collect()
}

/// How many entries there are, and where their list begins.
fn directory(bytes: &[u8]) -> Result<(u64, u64), String> {
    let end = bytes.windows(4).rposition(|window| window == b"PK\x05\x06");
    let end = end.ok_or("the list at the end of the archive is missing: it is cut short")? as u64;
    let mut cursor = Cursor::at(bytes, end + 10)?;
    let (count, _, place) = (cursor.u16()?, cursor.u32()?, cursor.u32()?);
    if u64::from(place) != ELSEWHERE && count != u16::MAX {
        return Ok((count.into(), place.into()));
    }
    // A locator of 20 bytes stands before the end, and says where the long form of the end is.
    let mut locator = Cursor::at(bytes, end.saturating_sub(20))?;
    locator.take(8)?;
    let mut long = Cursor::at(bytes, locator.u64()?)?;
    long.take(32)?;
    let (count, _, place) = (long.u64()?, long.u64()?, long.u64()?);
    Ok((count, place))
}

/// The next entry of the list: its name and its bytes.
fn entry<'a>(bytes: &'a [u8], list: &mut Cursor<'a>) -> Result<(String, &'a [u8]), String> {
    if list.take(4)? != b"PK\x01\x02" {
        return Err("the list of the archive is broken".to_owned());
    }
    list.take(6)?;
    let method = list.u16()?;
    list.take(8)?;
    let (_, mut size) = (list.u32()?, u64::from(list.u32()?));
    let [name, extra, comment] = [list.u16()?, list.u16()?, list.u16()?];
    list.take(8)?;
    let mut place = u64::from(list.u32()?);
    let name = list.take(name.into())?;
    let mut extra = Cursor::at(list.take(extra.into())?, 0)?;
    list.take(comment.into())?;
    if size == ELSEWHERE || place == ELSEWHERE {
        (size, place) = long(&mut extra, size, place)?;
    }
    let name = String::from_utf8_lossy(name);
    if method != 0 {
        return Err(format!(
            "`{name}` is compressed, which torch.save never does"
        ));
    }
    let mut local = Cursor::at(bytes, place)?;
    local.take(26)?;
    let before = u64::from(local.u16()?) + u64::from(local.u16()?);
    local.take(before)?;
    let (_, name) = name.split_once('/').unwrap_or(("", &name));
    Ok((name.to_owned(), local.take(size)?))
}

/// Size and place of an entry for which 32 bits are too few.
fn long(extra: &mut Cursor<'_>, mut size: u64, mut place: u64) -> Result<(u64, u64), String> {
    loop {
        let (kind, length) = (extra.u16()?, extra.u16()?);
        let mut field = Cursor::at(extra.take(length.into())?, 0)?;
        if kind != 1 {
            continue;
        }
        if size == ELSEWHERE {
            size = field.u64()?;
            // As much again, stored: there is no compression.
            field.take(if length >= 16 { 8 } else { 0 })?;
        }
        if place == ELSEWHERE {
            place = field.u64()?;
        }
        return Ok((size, place));
    }
}
