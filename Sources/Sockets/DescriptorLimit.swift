import Glibc

/// How many descriptors this process may have open (RLIMIT_NOFILE).
public enum DescriptorLimit {
    /// The limit in force.
    public static var current: Int { Int(clamping: limits().rlim_cur) }

    /// Raises the limit to `wanted`, or as far as the hard limit lets it. Never lowers it.
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
