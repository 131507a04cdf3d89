use std::sync::Arc;

use super::*;

fn tiny() -> Examples {
    let pixels: Vec<u8> = vec![0, 51, 102, 255, 1, 2];
    Examples::new([1, 1, 2], pixels, vec![3, 1, 300], Scale::Unit).unwrap()
}

#[test]
fn gathers_in_the_order_of_the_indices() {
    let (mut x, mut y) = (vec![9.0; 40], vec![7]);
    tiny().gather(&[2, 0], &mut x, &mut y).unwrap();
    assert_eq!(x, [1.0 / 255.0, 2.0 / 255.0, 0.0, 0.2]);
    assert_eq!(y, [300, 3]);

    let (mut x2, mut y2) = ([0.0; 4], [0; 2]);
    tiny().gather_into(&[2, 0], &mut x2, &mut y2).unwrap();
    assert_eq!((&x2[..], &y2[..]), (&x[..], &y[..]));
}

#[test]
fn a_subset_is_a_view() {
    let whole = tiny();
    let part = whole.subset(&[2, 1]);
    assert_eq!((part.len(), part.labels()), (2, &[300, 1][..]));
    assert_eq!(part.image(1), Some(&[102, 255][..]));
    let own = part.subset(&[1]);
    assert_eq!((own.len(), own.labels()), (1, &[1][..]));
    // The very same bytes.
    assert!(std::ptr::eq(own.image(0).unwrap(), whole.image(1).unwrap()));
}

#[test]
fn columns_have_names_shapes_and_kinds() {
    let columns = vec![
        Column::floats("x", [2], vec![0.5, 1.5, 2.5, 3.5]).unwrap(),
        Column::ids("tokens", [3], vec![1, 2, 3, 4, 5, 6]).unwrap(),
    ];
    let examples = Examples::of_columns(columns, vec![0, 1]).unwrap();
    assert_eq!((examples.shape(), examples.features()), (&[2][..], 2));
    let tokens = examples.column("tokens").unwrap();
    assert_eq!((tokens.element(), tokens.shape()), (Element::Id, &[3][..]));
    let mut ids = [0; 3];
    let one = examples.subset(&[1]);
    let tokens = one.column("tokens").unwrap();
    tokens.gather_ids_into(&[0], &mut ids).unwrap();
    assert_eq!(ids, [4, 5, 6]);
    let error = tokens.gather_into(&[0], &mut [0.0; 3]).unwrap_err();
    assert_eq!(error.to_string(), "column `tokens` does not hold numbers");
    let error = one.x().gather_ids_into(&[0], &mut [0; 2]).unwrap_err();
    assert_eq!(error.to_string(), "column `x` does not hold ids");
    assert!(examples.column("y").is_none() && examples.image(0).is_none());
    assert_eq!(examples.input_shape().unwrap(), [1, 1, 2]);
    assert_eq!(
        examples.image_shape().unwrap_err().to_string(),
        "`x` has examples of shape [2], expected images: [channels, height, width]"
    );
}

#[test]
fn lengths_must_agree() {
    let error = |bytes, labels: usize| {
        let examples = Examples::new([1, 2, 2], vec![0; bytes], vec![0; labels], Scale::Unit);
        examples.unwrap_err().to_string()
    };
    assert_eq!(
        error(7, 2),
        "column `x`: 7 elements are not a whole number of examples of shape [1, 2, 2], \
         of 4 elements each"
    );
    assert_eq!(
        error(8, 3),
        "column `x` has 2 examples, expected 3, one for each label"
    );
    let ids = || Column::ids("x", [1], vec![1]).unwrap();
    let of = |columns| Examples::of_columns(columns, vec![0]).unwrap_err();
    assert_eq!(of(vec![]), ColumnError::None);
    assert!(matches!(
        of(vec![ids(), ids()]),
        ColumnError::Twice { column } if column == "x"
    ));
    let empty = Column::ids("x", [2, 0], vec![]).unwrap_err();
    assert!(matches!(empty, ColumnError::Elements { .. }));
}

#[test]
fn a_scale_must_fit_the_channels() {
    let scale = Scale::normalised(&[0.5, 0.5], &[0.5, 0.5]);
    let error = Column::bytes("x", [3, 1, 1], vec![0; 3], scale).unwrap_err();
    assert!(error.to_string().contains("does not fit 3 channels"));
    let x = Column::bytes("x", [3, 1, 1], vec![0; 3], Scale::Unit).unwrap();
    let x = x.with_scale(Scale::normalised(&[0.5], &[0.5])).unwrap();
    let mut numbers = [0.0; 3];
    x.gather_into(&[0], &mut numbers).unwrap();
    assert_eq!(numbers, [-1.0; 3]);
}

#[test]
fn groups_must_fit_the_examples() {
    let data = Dataset::new("tiny", tiny(), tiny().subset(&[0]), ["a", "b"]);
    let named = ["photo", "sketch"];
    let good = data.clone().with_groups([0, 1, 0], [1], named).unwrap();
    assert_eq!(good.groups, Some(Arc::from([0, 1, 0])));
    assert_eq!(
        data.clone()
            .with_groups([0, 1], [1], named)
            .unwrap_err()
            .to_string(),
        "2 groups of 3 training examples; each needs one, below the number of names, 2"
    );
    assert!(data.with_groups([0, 1, 2], [1], named).is_err());
    // Fields that a program sets itself.
    good.check_groups().unwrap();
    for (train, test) in [
        (&[0, 1][..], &[1][..]),
        (&[0, 1, 2], &[1]),
        (&[0, 1, u32::MAX], &[1]),
        (&[0, 1, 0], &[]),
        (&[0, 1, 0], &[2]),
    ] {
        let mut wrong = good.clone();
        (wrong.groups, wrong.test_groups) = (Some(train.into()), Some(test.into()));
        let error = wrong.check_groups().unwrap_err();
        assert!(matches!(error, ColumnError::Groups { .. }), "{error}");
    }
}
