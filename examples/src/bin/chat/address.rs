//! Addresses of sessions in Postgres.

use std::path::Path;

use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What cannot stand in the name of an address as it is.
const IN_NAME: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'%').add(b'<').add(b'>').add(b'?').add(b'`');

/// `postgres://USER:PASSWORD@HOST:PORT/DATABASE/NAME?PARAMETERS`, in parts. The name may hold slashes; what is special in an
/// address is written with `%`.
#[derive(Clone)]
pub(crate) struct Address {
    /// Up to `://`.
    scheme: String,
    user: Option<String>,
    password: Option<String>,
    /// With the port.
    host: String,
    /// With the slash before it.
    database: String,
    pub(crate) name: Option<String>,
    parameters: Vec<String>,
}

impl Address {
    /// None if it is no such address.
    pub(crate) fn of(place: &Path) -> Option<Self> {
        let text = place.to_str()?;
        let (scheme, rest) =
            text.split_once("://").filter(|(scheme, _)| ["postgres", "postgresql"].contains(scheme))?;
        let (path, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = path.split_once('/').map_or((path, None), |(authority, path)| (authority, Some(path)));
        let (credentials, host) =
            authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
        let (user, mut password) = match credentials.map(|user| user.split_once(':').ok_or(user)) {
            Some(Ok((user, password))) => (Some(user.to_owned()), Some(password.to_owned())),
            Some(Err(user)) => (Some(user.to_owned()), None),
            None => (None, None),
        };
        let (database, name) = path.map_or(("", ""), |path| path.split_once('/').unwrap_or((path, "")));
        let mut parameters: Vec<_> = parameters.split('&').filter(|one| !one.is_empty()).map(str::to_owned).collect();
        parameters.retain(|parameter| match parameter.split_once('=') {
            Some((key, given)) if is_key(key, "password") => {
                password = Some(given.to_owned());
                false
            }
            _ => true,
        });
        let name = percent_decode_str(name).decode_utf8_lossy().into_owned();
        Some(Self {
            scheme: scheme.to_owned(),
            user,
            password,
            host: host.to_owned(),
            database: path.map_or_else(String::new, |_| format!("/{database}")),
            name: Some(name).filter(|name| !name.is_empty() && !database.is_empty()),
            parameters,
        })
    }

    /// The address of the database, with this password if it has none.
    pub(crate) fn database(&self, password: Option<&str>) -> String {
        let other = || password.map(|text| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string());
        self.joined(self.password.clone().or_else(other), "")
    }

    /// The whole address without the password.
    pub(crate) fn shown(&self) -> String {
        let name = self.name.as_ref().map(|name| format!("/{}", utf8_percent_encode(name, IN_NAME)));
        self.joined(None, name.as_deref().unwrap_or_default())
    }

    /// That of another session in the database, without the password.
    pub(crate) fn shown_with(&self, name: &str) -> String {
        Self { name: Some(name.to_owned()), ..self.clone() }.shown()
    }

    fn joined(&self, password: Option<String>, name: &str) -> String {
        let user = self.user.as_ref().map_or_else(String::new, |user| format!("{user}@"));
        // before a host it need not be written with `%`
        let password = password.map(|password| format!("password={}", password.replace('&', "%26")));
        let parameters: Vec<_> = self.parameters.iter().cloned().chain(password).collect();
        let question = if parameters.is_empty() { "" } else { "?" };
        let (scheme, host, database) = (&self.scheme, &self.host, &self.database);
        format!("{scheme}://{user}{host}{database}{name}{question}{}", parameters.join("&"))
    }
}

/// Whether a parameter of an address has this key, of which any letter may be written with `%`.
fn is_key(written: &str, key: &str) -> bool {
    percent_decode_str(written).decode_utf8_lossy() == key
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Address {
        Address::of(Path::new(text)).unwrap()
    }

    #[test]
    fn what_follows_the_database_is_the_name() {
        for (text, database, name) in [
            ("postgres://me:pw@h:1/db/today", "postgres://me@h:1/db?password=pw", Some("today")),
            ("postgresql://h/db/a?sslmode=require", "postgresql://h/db?sslmode=require", Some("a")),
            ("postgres://h/db/customer/42?a=b&password=x", "postgres://h/db?a=b&password=x", Some("customer/42")),
            ("postgres://h/db/a%20b%3f%25%2f", "postgres://h/db", Some("a b?%/")),
            ("postgres:///db/a?host=/run", "postgres:///db?host=/run", Some("a")),
            ("postgres://h/db/me@home", "postgres://h/db", Some("me@home")),
            ("postgres://h", "postgres://h", None),
            ("postgres://h/", "postgres://h/", None),
            ("postgres://h/db", "postgres://h/db", None),
            ("postgres://h/db/", "postgres://h/db", None),
            ("postgres://h/db?options=/x", "postgres://h/db?options=/x", None),
        ] {
            let address = address(text);
            assert_eq!((address.database(None).as_str(), address.name.as_deref()), (database, name), "{text}");
        }
    }

    #[test]
    fn a_password_comes_from_one_place_and_is_not_shown() {
        let without = address("postgres://me@h/db/n?sslmode=disable");
        assert_eq!(without.database(Some("p w&")), "postgres://me@h/db?sslmode=disable&password=p%20w%26");
        assert_eq!(address("postgres://me:a&b=c@h/db/n").database(None), "postgres://me@h/db?password=a%26b=c");
        for with in [
            "postgres://me:secret@h/db/a%20b",
            "postgres://me@h/db/a%20b?password=secret",
            "postgres://me:first@h/db/a%20b?pass%77ord=secret",
        ] {
            assert_eq!(address(with).database(Some("other")), "postgres://me@h/db?password=secret");
            assert_eq!(address(with).shown(), "postgres://me@h/db/a%20b");
            assert_eq!(address(with).shown_with("é/x?"), "postgres://me@h/db/%C3%A9/x%3F");
        }
    }

    #[test]
    fn what_is_shown_leads_to_the_same_session() {
        for name in ["a", "a b", "a/b", "100%", "?", "#1", "é🦀", "\"'`<>", "a\tb\n"] {
            let shown = address("postgres://h/db").shown_with(name);
            assert_eq!(address(&shown).name.as_deref(), Some(name), "{shown}");
        }
    }
}
