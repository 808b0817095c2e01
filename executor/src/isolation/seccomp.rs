//! System calls that an isolated command does not get: what administers the kernel or looks into others.
//!
//! A list of what is refused, because a list of what is allowed breaks programs with each new C library. The
//! rest of the wall is namespaces without capabilities; this takes away the parts of the kernel whose faults
//! have led out of them most often. Refused calls fail with EPERM, as they do for any unprivileged user.

use nix::libc;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};
use std::collections::BTreeMap;

/// Refused whatever their arguments are.
const REFUSED: &[i64] = &[
    // Mounts and roots.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_quotactl,
    libc::SYS_open_by_handle_at,
    // Namespaces.
    libc::SYS_unshare,
    libc::SYS_setns,
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    // Parts of the kernel with much code and many past faults.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_fanotify_init,
    libc::SYS_lookup_dcookie,
    // Keyrings are not in namespaces of their own.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // The machine itself.
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    libc::SYS_nfsservctl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_uselib,
    #[cfg(target_arch = "x86_64")]
    libc::SYS__sysctl,
];

/// Kinds of sockets that are refused: virtual machines' sockets pass by network namespaces, and the kernel's
/// cipher interface is of no use to commands.
const REFUSED_SOCKETS: [libc::c_int; 2] = [libc::AF_VSOCK, libc::AF_ALG];

/// The second set of numbers under which a 64-bit x86 kernel may offer the same calls.
#[cfg(target_arch = "x86_64")]
const OTHER_NUMBERS: Option<i64> = Some(0x4000_0000);
#[cfg(not(target_arch = "x86_64"))]
const OTHER_NUMBERS: Option<i64> = None;

/// The filters as bytes of the kernel's format; all of them apply. Calls of a foreign architecture (32-bit
/// programs) end the process.
///
/// # Errors
/// On an architecture that the filters cannot be made for.
pub(crate) fn filters() -> Result<Vec<Vec<u8>>, seccompiler::BackendError> {
    let mut refused: Rules = REFUSED.iter().map(|number| (*number, Vec::new())).collect();
    let new_user = u64::from(libc::CLONE_NEWUSER.unsigned_abs());
    let into_new_user = SeccompCmpOp::MaskedEq(new_user);
    refused.insert(libc::SYS_clone, vec![argument(0, into_new_user, new_user)?]);
    let sockets = REFUSED_SOCKETS
        .iter()
        .map(|family| argument(0, SeccompCmpOp::Eq, u64::from(family.unsigned_abs())));
    refused.insert(libc::SYS_socket, sockets.collect::<Result<_, _>>()?);
    // Its arguments lie in memory, where a filter cannot look. As if the kernel were too old, so that
    // the C library falls back to `clone`.
    let unknown: Rules = [(libc::SYS_clone3, Vec::new())].into();
    Ok(vec![compiled(refused, libc::EPERM)?, compiled(unknown, libc::ENOSYS)?])
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn argument(
    index: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompRule, seccompiler::BackendError> {
    let condition = SeccompCondition::new(index, SeccompCmpArgLen::Dword, operator, value)?;
    SeccompRule::new(vec![condition])
}

fn compiled(rules: Rules, errno: libc::c_int) -> Result<Vec<u8>, seccompiler::BackendError> {
    let mut all = rules.clone();
    if let Some(offset) = OTHER_NUMBERS {
        all.extend(rules.into_iter().map(|(number, rules)| (number + offset, rules)));
    }
    let refuse = SeccompAction::Errno(errno.unsigned_abs());
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let program: BpfProgram =
        SeccompFilter::new(all, SeccompAction::Allow, refuse, arch)?.try_into()?;
    let bytes = program.iter().flat_map(|one| {
        let [a, b] = one.code.to_ne_bytes();
        let [c, d, e, f] = one.k.to_ne_bytes();
        [a, b, one.jt, one.jf, c, d, e, f]
    });
    Ok(bytes.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filters_can_be_made_here_and_are_whole_instructions() {
        let filters = filters().unwrap();
        assert_eq!(filters.len(), 2);
        for filter in filters {
            assert!(filter.len() > 8 && filter.len().is_multiple_of(8));
        }
    }
}
