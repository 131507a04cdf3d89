//! Rules that turn PyTorch's names into ours.

/// Rules that turn PyTorch's names into ours, applied one after the other: `(from, to)` replaces
/// whole segments between dots where they first stand, or at the start alone if `from` begins with
/// `^`. An empty `to` leaves the tensor out; if `from` ends with a dot, such as `^module.`, it removes
/// the segments and keeps the tensor under the rest of its name.
pub type Renames<'a> = &'a [(&'a str, &'a str)];

/// For torchvision's `resnet18`, `resnet34` and `resnet50` to [`ResNet`](crate::ResNet).
pub const TORCHVISION_RESNET: Renames<'static> = &[
    ("^conv1", "features.conv"),
    ("^bn1", "features.norm"),
    ("^layer1", "features.stage1"),
    ("^layer2", "features.stage2"),
    ("^layer3", "features.stage3"),
    ("^layer4", "features.stage4"),
    ("^fc", "head"),
    ("conv3", "expand.conv"),
    ("bn1", "norm1"),
    ("bn2", "norm2"),
    ("bn3", "expand.norm"),
    ("downsample.0", "shortcut.conv"),
    ("downsample.1", "shortcut.norm"),
];

/// The new name of a tensor; none if it is left out.
pub(super) fn rename(name: &str, renames: Renames<'_>) -> Option<String> {
    let mut segments: Vec<&str> = name.split('.').collect();
    for (from, to) in renames {
        let (anchored, from) = match from.strip_prefix('^') {
            Some(from) => (true, from),
            None => (false, *from),
        };
        // `module.` stands for the segments before others, not for all of a name.
        let prefix = from.strip_suffix('.').filter(|_| to.is_empty());
        let from: Vec<&str> = prefix.unwrap_or(from).split('.').collect();
        let found = segments.windows(from.len()).position(|w| w == from);
        let Some(at) = found.filter(|at| !anchored || *at == 0) else {
            continue;
        };
        let after = at + from.len();
        if !to.is_empty() {
            segments.splice(at..after, to.split('.'));
        } else if prefix.is_none() {
            return None;
        } else if after < segments.len() {
            segments.drain(at..after);
        }
    }
    Some(segments.join("."))
}
