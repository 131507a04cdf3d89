use super::super::*;

fn error(text: &str) -> String {
    text.parse::<Partition>().unwrap_err().to_string()
}

#[test]
fn text_survives_a_round_trip() {
    for text in [
        "iid",
        "shards:2",
        "dirichlet:0.5",
        "dirichlet:0.001",
        "dirichlet:100:1",
        "quantity:0.5:3",
        "islands",
        "classes:2",
        "subset:0.9",
        "labels:3",
        "labels:2:1,0,0.25",
        "domains",
        "domains:10",
        "domains:10:743",
        "groups",
        "natural",
        "shared:50",
        "shards:2+rotated:90:3000",
    ] {
        assert_eq!(text.parse::<Partition>().unwrap().to_string(), text);
    }
    assert_eq!(
        " shards : 3 ".parse(),
        Ok(Partition::Shards { per_client: 3 })
    );
    assert_eq!(
        "iid + rotated : 90 : 3"
            .parse::<Partition>()
            .unwrap()
            .to_string(),
        "iid+rotated:90:3"
    );
}

#[test]
fn names_are_distinct() {
    for (i, kind) in PARTITIONS.iter().enumerate() {
        assert_eq!(info::find(kind.name()).map(|k| k.syntax), Some(kind.syntax));
        assert!(!PARTITIONS[..i].iter().any(|k| k.name() == kind.name()));
    }
}

#[test]
fn unknown_names_are_explained() {
    assert_eq!(
        error("dirchlet:0.1"),
        "unknown partition `dirchlet` (did you mean `dirichlet`?); write iid, shards:N, dirichlet:ALPHA[:MIN], \
         quantity:ALPHA[:MIN], islands, classes:K, subset:SHARE, labels:K[:W,W,...], domains[:PARTS[:MAX]], groups, \
         natural, shared:N, BASE+rotated:DEGREES:N"
    );
    assert!(error("x").starts_with("unknown partition `x`; write iid"));
    assert!(
        error("iid+rotate:90:1")
            .starts_with("unknown partition `rotate` (did you mean `rotated`?)")
    );
}

#[test]
fn bad_arguments_are_explained() {
    assert_eq!(
        error("iid:3"),
        "bad partition `iid:3`: iid takes no argument"
    );
    for text in [
        "shards",
        "shards:",
        "shards:0",
        "shards:-1",
        "shards:1.5",
        "shards:2:3",
        "dirichlet:",
        "dirichlet:0",
        "dirichlet:-1",
        "dirichlet:nan",
        "dirichlet:inf",
        "dirichlet:x",
        "dirichlet:0.5:",
        "dirichlet:0.5:0",
        "dirichlet:0.5:1:2",
        "quantity:0",
        "quantity:1:0",
        "islands:1",
        "groups:2",
        "natural:3",
        "classes:0",
        "classes",
        "subset:0",
        "subset:1.1",
        "subset:nan",
        "labels:0",
        "labels:3:",
        "labels:3:1,-1",
        "labels:3:1,inf",
        "labels:3:1,1:2",
        "domains:0",
        "domains:2:0",
        "domains:2:3:4",
    ] {
        let name = text.split(':').next().unwrap();
        let expected = info::find(name).unwrap().expected;
        assert_eq!(error(text), format!("bad partition `{text}`: {expected}"));
    }
    for text in [
        "rotated:90:1",
        "iid+rotated:45:1",
        "iid+rotated:90",
        "iid+rotated:90:0",
        "iid+iid",
        "iid+rotated:90:1+rotated:90:1",
    ] {
        assert!(
            error(text).starts_with(&format!("bad partition `{text}`: ")),
            "{}",
            error(text)
        );
    }
}

#[test]
fn what_cannot_be_written_cannot_be_split() {
    for partition in [
        Partition::Shards { per_client: 0 },
        Partition::Dirichlet {
            alpha: f64::NAN,
            min: None,
        },
        Partition::Subset { share: 2.0 },
        Partition::Domains {
            parts: None,
            most: Some(3),
        },
    ] {
        let error = partition.split(&[0; 4], 1, 2, 1).unwrap_err();
        assert!(matches!(error, PartitionError::Argument { .. }), "{error}");
    }
}
