//! The clients of a party.

use super::error::FederationError;

/// The numbers in a text such as `0,2,7-9`, in ascending order, each once.
pub(super) fn numbers(text: &str, clients: usize) -> Result<Vec<usize>, FederationError> {
    let wrong = || FederationError::Clients {
        found: text.to_owned(),
    };
    let mut all = vec![];
    for part in text.split(',') {
        let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
        let (first, last) = match part.split_once('-') {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(part)?, number(part)?),
        };
        if first > last {
            return Err(wrong());
        }
        if last >= clients {
            let client = last;
            return Err(FederationError::NoClient { client, clients });
        }
        all.extend(first..=last);
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read() {
        assert_eq!(numbers("3", 4).unwrap(), [3]);
        assert_eq!(numbers("7-9, 0,2,8", 10).unwrap(), [0, 2, 7, 8, 9]);
        for wrong in ["", "a", "3-1", "1-", "-1", "1,,2"] {
            assert!(numbers(wrong, 10).is_err(), "{wrong}");
        }
        let error = numbers("0-10", 10).unwrap_err().to_string();
        assert!(error.contains("client 10 is not one"), "{error}");
    }
}
