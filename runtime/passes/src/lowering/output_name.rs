//! The names of a lowered graph's outputs, by what they are: `out0.fc.weight` for a value that the segment
//! gives, `next0.norm.mean` for a buffer that a forward pass advanced, and `loss0` for a loss.

/// The name of a value, or of one leaf of a value that is parameters.
pub(super) fn value(i: usize, leaf: Option<&str>) -> String {
    match leaf {
        Some(leaf) => format!("out{i}.{leaf}"),
        None => format!("out{i}"),
    }
}

/// The name of an advanced buffer.
pub(super) fn advanced(i: usize, leaf: &str) -> String {
    format!("next{i}.{leaf}")
}

/// The name of a loss.
pub(super) fn loss(i: usize) -> String {
    format!("loss{i}")
}

/// Whether an output of this name is a loss.
pub fn is_loss(name: &str) -> bool {
    let number = name.strip_prefix("loss").unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_known_by_its_name() {
        assert!(is_loss(&loss(0)) && is_loss(&loss(12)));
        for other in [value(0, None), value(0, Some("loss0")), advanced(1, "loss")] {
            assert!(!is_loss(&other), "{other}");
        }
        assert!(!is_loss("loss") && !is_loss("loss_of_w"));
    }
}
