//! The table of a dialect's ops.

/// Makes an op enum's text form from a table with one row an op:
///
/// ```text
/// "tensor.add" = Add [];
/// "tensor.cat" = Cat [dim: Labelled];
/// "fed.sum"    = Reduce (Reduce::Sum);
/// ```
///
/// A row has the op's name in text, its variant, and the variant's fields. Each field is listed with its
/// [`Codec`](crate::text::attribute::Codec), in square brackets if the variant is a tuple and in curly
/// brackets if its fields have names. Round brackets hold the one value of a field that this name
/// stands for.
///
/// The macro generates the list of names, and the functions that print and parse attributes. A variant
/// without a row is a compile error.
macro_rules! ops {
    ($op:ident { $($name:literal = $variant:ident $fields:tt;)+ }) => {
        impl $op {
            /// The names of its ops in text, in the order of the table.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// Its name in the table.
            pub(crate) fn table_name(&self) -> &'static str {
                match self {
                    $($crate::text::ops!(@pattern $variant $fields) => $name,)+
                }
            }

            /// Appends its attributes.
            pub(crate) fn write_attributes(&self, to: &mut $crate::text::attribute::AttributeText) {
                $($crate::text::ops!(@write self to $variant $fields);)+
            }

            /// The op of a name, its attributes taken from the front; an error says what was
            /// expected instead, none of the name if it is not in the table.
            pub(crate) fn read_attributes(
                name: &str,
                from: &mut $crate::text::attribute::TextAttributes,
            ) -> Result<Option<Self>, String> {
                Ok(Some(match name {
                    $($name => $crate::text::ops!(@read from $variant $fields),)+
                    _ => return Ok(None),
                }))
            }
        }
    };
    (@pattern $variant:ident ($($fixed:tt)+)) => { Self::$variant($($fixed)+) };
    (@pattern $variant:ident $fields:tt) => { Self::$variant { .. } };
    (@write $this:ident $to:ident $variant:ident [$($field:ident: $codec:ty),+]) => {
        if let Self::$variant($($field),+) = $this {
            $(<$codec as $crate::text::attribute::Codec<_>>::write($field, stringify!($field), $to);)+
        }
    };
    (@write $this:ident $to:ident $variant:ident {$($field:ident: $codec:ty),+}) => {
        if let Self::$variant { $($field),+ } = $this {
            $(<$codec as $crate::text::attribute::Codec<_>>::write($field, stringify!($field), $to);)+
        }
    };
    (@write $this:ident $to:ident $variant:ident $fields:tt) => {};
    (@read $from:ident $variant:ident []) => { Self::$variant };
    (@read $from:ident $variant:ident ($($fixed:tt)+)) => { Self::$variant($($fixed)+) };
    (@read $from:ident $variant:ident [$($field:ident: $codec:ty),+]) => {
        Self::$variant($(<$codec as $crate::text::attribute::Codec<_>>::read(
            stringify!($field),
            $from,
        )?),+)
    };
    (@read $from:ident $variant:ident {$($field:ident: $codec:ty),+}) => {
        Self::$variant {
            $($field: <$codec as $crate::text::attribute::Codec<_>>::read(
                stringify!($field),
                $from,
            )?),+
        }
    };
}

pub(crate) use ops;
