//! Nothing: the cases under `cases/` are programs of their own. After a change of a message, or of
//! the compiler, `TRYBUILD=overwrite cargo test -p fedround-ui-tests` writes the `.stderr` files
//! anew; read the difference before you commit it.
