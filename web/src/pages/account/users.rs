//! `GET /account/users`: who may sign in.

use super::tabs::tabs;
use crate::fault::Fault;
use crate::frame::{Frame, Section};
use crate::listing::{Cell, Listing, asked};
use crate::visit::{Visit, in_path};
use crate::words::{Ago, mark_of};
use actix_web::HttpResponse;
use api_types::{Page, User};
use domain::access::Permission;
use runtime::clock::wall;

/// Shows them.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let users: Page<User> = visit.get(asked(&visit, "/v1/users", &[])).await?;
    let now = wall();
    let columns = [("User", false), ("Role", false), ("State", false), ("Since", true)];
    let empty = ("No users", "Invite one here, or with: berth users invite EMAIL --role viewer");
    let frame = Frame::new(&visit, Section::Account, "Users");
    let mut list = Listing::new(frame, &columns, empty);
    list.tabs = tabs(&visit);
    let may_manage = visit.may(Permission::ManageUsers);
    if may_manage {
        list.acts = vec![("/account/users/new".to_owned(), "Invite a user")];
    }
    let row = |user: &User| {
        vec![
            if may_manage {
                let path = format!("/account/users/{}", in_path(&user.id.to_string()));
                Cell::Link(path, user.email.clone())
            } else {
                Cell::Text(user.email.clone())
            },
            Cell::Text(user.role.to_string()),
            Cell::Mark(mark_of(&user.state.to_string())),
            Cell::Ago(Ago { at: user.created_at, now }),
        ]
    };
    list.rows = users.data.iter().map(row).collect();
    list.paged(&visit, &[], users.next_cursor.map(|cursor| cursor.to_string())).show()
}
