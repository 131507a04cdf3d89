//! The list of partitions, for help texts and for parsing.

/// One kind of [`Partition`](super::Partition), for listings and help.
#[derive(Clone, Copy, Debug)]
pub struct PartitionInfo {
    /// The syntax, such as `shards:N`.
    pub syntax: &'static str,
    /// One line about it.
    pub doc: &'static str,
    /// The papers that use it. Empty for `iid`.
    pub paper: &'static str,
    /// The expected arguments, for errors about other ones.
    pub expected: &'static str,
}

impl PartitionInfo {
    /// The name without arguments, such as `shards`.
    pub fn name(&self) -> &'static str {
        let name = self.syntax.strip_prefix("BASE+").unwrap_or(self.syntax);
        name.split([':', '[']).next().unwrap_or(name)
    }
}

/// The kind called `name`.
pub(super) fn find(name: &str) -> Option<&'static PartitionInfo> {
    PARTITIONS.iter().find(|p| p.name() == name)
}

/// Every kind of partition.
pub const PARTITIONS: &[PartitionInfo] = &[
    PartitionInfo {
        syntax: "iid",
        doc: "equal shares of shuffled examples",
        paper: "",
        expected: "iid takes no argument",
    },
    PartitionInfo {
        syntax: "shards:N",
        doc: "N shards each of the examples sorted by label: about N classes per client",
        paper: "McMahan et al., AISTATS 2017; FedAA (shards:1), LG-FedAvg (shards:2)",
        expected: "expected shards:N with the number of shards per client, a whole number of at least 1, as in shards:2",
    },
    PartitionInfo {
        syntax: "dirichlet:ALPHA[:MIN]",
        doc: "of each class a Dirichlet(ALPHA) share, at least MIN examples per client; smaller is more skewed",
        paper: "Yurochkin et al., ICML 2019; FedFed, ADCOL",
        expected: "expected dirichlet:ALPHA with a finite number above 0, as in dirichlet:0.5, and optionally the least \
                   number of examples per client, at least 1, as in dirichlet:0.5:1",
    },
    PartitionInfo {
        syntax: "quantity:ALPHA[:MIN]",
        doc: "shuffled examples, of which each client has a Dirichlet(ALPHA) share, at least MIN",
        paper: "Li et al., ICDE 2022",
        expected: "expected quantity:ALPHA with a finite number above 0, as in quantity:0.5, and optionally the least \
                   number of examples per client, at least 1, as in quantity:0.5:1",
    },
    PartitionInfo {
        syntax: "islands",
        doc: "one class each; fewer clients than classes hold classes drawn at random",
        paper: "FedAA",
        expected: "islands takes no argument",
    },
    PartitionInfo {
        syntax: "classes:K",
        doc: "K classes each, a class in equal shares among its clients (#C=K)",
        paper: "FedFed; Li et al., ICDE 2022",
        expected: "expected classes:K with the number of classes per client, a whole number of at least 1, as in classes:2",
    },
    PartitionInfo {
        syntax: "subset:SHARE",
        doc: "a dominant class each: SHARE of a class goes to its own clients, the rest to all others",
        paper: "FedFed",
        expected: "expected subset:SHARE with the share of a class that its own clients hold, above 0 and at most 1, \
                   as in subset:0.9",
    },
    PartitionInfo {
        syntax: "labels:K[:W,W,...]",
        doc: "K distinct labels each, drawn with weights W (AdFL's table 1 for ten classes), equally many examples of each",
        paper: "AdFL",
        expected: "expected labels:K with the number of labels per client, a whole number of at least 1, as in labels:3, \
                   and optionally a weight of at least 0 for each label, as in labels:2:1,1,0.5",
    },
    PartitionInfo {
        syntax: "domains[:PARTS[:MAX]]",
        doc: "one domain (group) each: all are cut into PARTS, as many as have clients if not given; at most MAX examples",
        paper: "ADCOL",
        expected: "expected domains, or domains:PARTS with the number of parts of each domain, at least 1, as in \
                   domains:10, and optionally the most examples per client, at least 1, as in domains:10:743",
    },
    PartitionInfo {
        syntax: "groups",
        doc: "all groups of the dataset, equally many each, drawn at random",
        paper: "FedAA (captions)",
        expected: "groups takes no argument",
    },
    PartitionInfo {
        syntax: "natural",
        doc: "one group of the dataset each, such as a writer; fewer clients than groups hold groups drawn at random",
        paper: "Caldas et al., LEAF, 2018",
        expected: "natural takes no argument",
    },
    PartitionInfo {
        syntax: "shared:N",
        doc: "N random examples each; clients share examples, so that there may be more clients than examples",
        paper: "",
        expected: "expected shared:N with the number of examples per client, a whole number of at least 1, as in shared:50",
    },
    PartitionInfo {
        syntax: "BASE+rotated:DEGREES:N",
        doc: "BASE but for a new, last client: N random examples, images turned counter-clockwise",
        paper: "LG-FedAvg",
        expected: "expected BASE+rotated:DEGREES:N with another partition, a turn of 90, 180 or 270 degrees and the number \
                   of examples of the rotated client, at least 1, as in iid+rotated:90:3000",
    },
];
