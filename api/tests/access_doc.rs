//! Holds the table of docs/access.md equal to the tables of scopes and roles.

use domain::access::{Permission, PermissionSet, Role, Scope};

const DOC: &str = include_str!("../../docs/access.md");

#[test]
fn the_table_in_the_docs_is_the_table_in_the_code() {
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let mut lines = DOC.lines().skip_while(|line| !line.starts_with("| permission |"));
    let roles: Vec<Role> =
        cells(lines.next().unwrap())[3..].iter().map(|name| name.parse().unwrap()).collect();
    assert_eq!(roles, Role::ALL);
    let rows: Vec<Vec<String>> =
        lines.skip(1).take_while(|line| line.starts_with('|')).map(cells).collect();
    assert_eq!(rows.len(), Permission::ALL.len());
    for (row, permission) in rows.iter().zip(Permission::ALL) {
        assert_eq!(row[0], format!("`{permission}`"));
        let scope = Scope::ALL.into_iter().find(|s| s.permissions().contains(permission));
        let scope = match scope {
            Some(scope) => format!("`{scope}`"),
            None if PermissionSet::OF_EVERYBODY.contains(permission) => "every key".to_owned(),
            None => String::new(),
        };
        assert_eq!(row[2], scope, "{permission}");
        for (cell, role) in row[3..].iter().zip(roles.iter()) {
            let of_all = PermissionSet::OF_EVERY_USER.with(PermissionSet::OF_EVERYBODY);
            let may = role.permissions().with(of_all).contains(permission);
            assert_eq!(cell == "yes", may, "{role} {permission}");
        }
    }
}
