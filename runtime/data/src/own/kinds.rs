//! The words that own data begins with.

/// The kinds of own data and what follows their colon.
pub(super) const KINDS: [(&str, &str); 6] = [
    ("images", "images:DIR"),
    ("csv", "csv:FILE or csv:TRAIN,TEST"),
    ("parquet", "parquet:FILE or parquet:TRAIN,TEST"),
    (
        "npy",
        "npy:X.npy,Y.npy or npy:X.npy,Y.npy,TEST_X.npy,TEST_Y.npy",
    ),
    ("npz", "npz:FILE"),
    ("leaf", "leaf:DIR"),
];
