import Glibc

/// The number of descriptors that this process may have open (RLIMIT_NOFILE).
public enum DescriptorLimit {
    /// The current limit.
    public static var current: Int { Int(clamping: limits().rlim_cur) }

    /// Raises the limit to `wanted`, or to the hard limit if that is lower. It never lowers the limit.
    public static func raise(to wanted: Int) {
        var limits = limits()
        guard limits.rlim_cur < rlim_t(wanted) else { return }
        limits.rlim_cur = min(limits.rlim_max, rlim_t(wanted))
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
    }

    private static func limits() -> rlimit {
        var limits = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
        return limits
    }
}
