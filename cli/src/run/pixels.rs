//! Algorithms that make images, on data whose pixels have other numbers than those of such images.

use fedround_data::Dataset;
use fedround_dsl::Hyper;
use fedround_ir::fed::HyperValue;

use crate::settings::hypers::layers;

/// The numbers between which the pixels of images are.
#[derive(Clone, Copy)]
struct Range {
    black: f64,
    white: f64,
}

/// FedFed's generator ends with a sigmoid.
const UNIT: Range = Range {
    black: 0.0,
    white: 1.0,
};

/// What to say before a run of an algorithm that makes images whose pixels are not like those of the data.
/// Nothing is said of data that is not bytes of images: no range of its numbers is known.
pub(super) fn warning(algorithm: &dyn Hyper, data: &Dataset) -> Option<String> {
    let channels = channels(data)?;
    let differ = |range: Range| channels.iter().any(|channel| !channel.is(range));
    let of_data = between(&channels);
    let name = &data.name;
    if layers(algorithm).any(|layer| layer.name() == "fedfed") && differ(UNIT) {
        return Some(format!(
            "`fedfed` makes images with pixels between 0 and 1, but those of `{name}` are {of_data}. --normalize none reads them as the paper does."
        ));
    }
    let adfl = layers(algorithm).find(|layer| layer.name() == "adfl")?;
    let made = Range {
        black: number(adfl, "black")?,
        white: number(adfl, "white")?,
    };
    if !differ(made) {
        return None;
    }
    let help = match channels.as_slice() {
        [first, rest @ ..] if rest.iter().all(|channel| channel.is(*first)) => {
            let (black, white) = (text(first.black), text(first.white));
            format!("--set black={black} --set white={white} makes such images.")
        }
        _ => "Each channel has a range of its own: --normalize none reads all of them between 0 and 1, the defaults of `black` and `white`.".to_owned(),
    };
    Some(format!(
        "`adfl` makes images with pixels {}, but those of `{name}` are {of_data}. {help}",
        between(&[made])
    ))
}

/// The range of each channel of images that are bytes.
fn channels(data: &Dataset) -> Option<Vec<Range>> {
    let x = data.train.x();
    let ([channels, _, _], Some(scale)) = (x.shape(), x.scale()) else {
        return None;
    };
    let of = |byte: u8| {
        let mut numbers = vec![0.0; *channels];
        scale.apply(&vec![byte; *channels], &mut numbers);
        numbers.into_iter().map(f64::from)
    };
    let ranges = of(0).zip(of(255));
    Some(
        ranges
            .map(|(black, white)| Range { black, white })
            .collect(),
    )
}

impl Range {
    /// Whether it is another one, but for rounding.
    fn is(self, other: Self) -> bool {
        let near = |a: f64, b: f64| (a - b).abs() < 1e-3;
        near(self.black, other.black) && near(self.white, other.white)
    }
}

/// All ranges in words.
fn between(ranges: &[Range]) -> String {
    let low = ranges.iter().map(|range| range.black);
    let high = ranges.iter().map(|range| range.white);
    let (low, high) = (low.reduce(f64::min), high.reduce(f64::max));
    let [low, high] = [low, high].map(|x| text(x.unwrap_or_default()));
    format!("between {low} and {high}")
}

/// A number with at most three decimals.
fn text(x: f64) -> String {
    ((x * 1e3).round() / 1e3).to_string()
}

fn number(layer: &dyn Hyper, field: &str) -> Option<f64> {
    match layer.get(field)? {
        HyperValue::Float(x) => Some(x),
        HyperValue::Int(n) => Some(n as f64),
        HyperValue::Bool(_) | HyperValue::Text(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use fedround::algorithms::registry;
    use fedround_data::{Column, Examples, Scale};
    use fedround_dsl::set;

    use super::*;

    fn said(spec: &str, settings: &[(&str, f64)], x: Column) -> Option<String> {
        let mut algorithm = registry().parse(spec).unwrap();
        for (name, x) in settings {
            set(&mut *algorithm, name, HyperValue::Float(*x)).unwrap();
        }
        let examples = Examples::of_columns(vec![x], vec![0]).unwrap();
        let data = Dataset::new("photos", examples.clone(), examples, ["a", "b"]);
        warning(&*algorithm, &data)
    }

    fn images(scale: Scale) -> Column {
        Column::bytes("x", [3, 1, 1], vec![1, 2, 3], scale).unwrap()
    }

    #[test]
    fn images_of_another_range_than_the_data_are_said() {
        let text = said("fedfed(fedprox)", &[], images(Scale::Centred)).unwrap();
        assert_eq!(
            text,
            "`fedfed` makes images with pixels between 0 and 1, but those of `photos` are between -2 and 2. --normalize none reads them as the paper does."
        );
        let text = said("decayed(adfl)", &[], images(Scale::Centred)).unwrap();
        assert_eq!(
            text,
            "`adfl` makes images with pixels between 0 and 1, but those of `photos` are between -2 and 2. --set black=-2 --set white=2 makes such images."
        );
        let own = Scale::normalised(&[0.0, 0.5, 0.25], &[1.0, 0.5, 0.125]);
        let text = said("adfl", &[], images(own)).unwrap();
        assert!(text.contains("between -2 and 6. Each channel has a range of its own"));
        let white = [("white", 2.0)];
        assert!(said("adfl", &white, images(Scale::Unit)).is_some());
    }

    #[test]
    fn nothing_is_said_of_images_of_the_same_range() {
        let centred = [("black", -2.0), ("white", 2.0)];
        for (spec, settings, scale) in [
            ("fedfed", &[][..], Scale::Unit),
            ("adfl", &[], Scale::Unit),
            ("adfl", &centred, Scale::Centred),
            ("adfl", &[], Scale::normalised(&[0.0], &[1.0])),
            ("fedavg", &[], Scale::Centred),
        ] {
            assert_eq!(said(spec, settings, images(scale)), None, "{spec}");
        }
        let numbers = Column::floats("x", [3, 1, 1], vec![-5.0, 0.0, 5.0]).unwrap();
        assert_eq!(said("adfl", &[], numbers), None);
        let row = Column::bytes("x", [3], vec![1, 2, 3], Scale::Unit).unwrap();
        assert_eq!(said("fedfed", &[], row), None);
    }
}
