//! Parts shared by the example binaries.
