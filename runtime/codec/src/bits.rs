//! Numbers of a few bits each, packed without gaps from the lowest bit of the first byte on.

/// Bytes of `n` numbers of some bits each.
pub(crate) fn bytes(bits: usize, n: usize) -> usize {
    (bits * n).div_ceil(8)
}

/// Appends numbers below `2^bits`; `bits` is at most 16.
pub(crate) fn pack(bits: usize, numbers: impl Iterator<Item = u32>, to: &mut Vec<u8>) {
    let (mut held, mut count) = (0u32, 0);
    for number in numbers {
        held |= number << count;
        count += bits;
        while count >= 8 {
            to.push(held as u8);
            held >>= 8;
            count -= 8;
        }
    }
    if count > 0 {
        to.push(held as u8);
    }
}

/// The numbers of bytes. There may be more than were packed, by the bits that fill the last byte.
pub(crate) fn unpack(bits: usize, bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    let (mut held, mut count) = (0u32, 0);
    let mut bytes = bytes.iter();
    std::iter::from_fn(move || {
        while count < bits {
            held |= u32::from(*bytes.next()?) << count;
            count += 8;
        }
        let number = held & ((1 << bits) - 1);
        held >>= bits;
        count -= bits;
        Some(number)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_width_come_back() {
        for width in 1..=16 {
            for n in [0, 1, 7, 8, 9, 33] {
                let numbers: Vec<u32> = (0..n).map(|i| (i * 40_503) & ((1 << width) - 1)).collect();
                let mut packed = vec![];
                pack(width, numbers.iter().copied(), &mut packed);
                assert_eq!(packed.len(), bytes(width, n as usize));
                let back: Vec<u32> = unpack(width, &packed).take(n as usize).collect();
                assert_eq!(back, numbers, "{width} bits");
            }
        }
    }
}
