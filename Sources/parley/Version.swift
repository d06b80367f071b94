/// The version of this program, and the only place where it stands.
let version = "0.1.0"
