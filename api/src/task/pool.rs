//! Which pools a task may name.

use domain::pool::PoolUser;
use store::pool::SubmitPool;

/// The pool of this name, where `user` may use it.
pub fn usable<'a>(
    pools: &'a [SubmitPool],
    user: PoolUser<'_>,
    name: &str,
) -> Option<&'a SubmitPool> {
    pools.iter().find(|pool| pool.name.as_str() == name).filter(|pool| pool.grants.admit(user))
}
