import FoundationEssentials
import Glibc
import Testing

/// A library that stands between the server and the system (`LD_PRELOAD`) and lets the disk, or accepting, fail as long as a
/// file with the fault's name is in the folder.
struct FaultLibrary {
    /// What fails, and how.
    enum Fault: String, CaseIterable, Sendable {
        /// write(2) finds no space.
        case fullDisk = "full-disk"
        /// Of what write(2) is given, a part arrives; then there is no space.
        case shortWrites = "short-writes"
        /// write(2) takes 512 bytes at a time, and all of them in the end.
        case slowWrites = "slow-writes"
        /// There is no space for the write-ahead log.
        case fullLog = "full-log"
        /// There is no space for the file of the database.
        case fullDatabase = "full-database"
        /// The system has made the file system read-only after an error.
        case readOnlyDisk = "read-only-disk"
        /// fsync(2) and fdatasync(2) fail.
        case failingSync = "failing-sync"
        /// Every write takes a millisecond longer, so that there is time to die before it.
        case slowDisk = "slow-disk"
        /// The database may be read, not written, by every process that opens it.
        case readOnlyFile = "read-only-file"
        /// accept(2) finds no descriptor left in the process.
        case noDescriptors = "no-descriptors"
        /// accept(2) finds no file left in the system.
        case noFiles = "no-files"
        /// accept(2) finds no memory for buffers.
        case noBuffers = "no-buffers"
    }

    private static let source = #"""
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <fcntl.h>
        #include <signal.h>
        #include <stdarg.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/resource.h>
        #include <sys/socket.h>
        #include <sys/stat.h>
        #include <unistd.h>

        static int present(const char *fault) {
            char path[512];
            snprintf(path, sizeof path, "%s/%s", getenv("FAULT_FOLDER"), fault);
            return access(path, F_OK) == 0;
        }
        static int is_named(int descriptor, const char *ending) {
            char link[64], path[512];
            snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
            ssize_t length = readlink(link, path, sizeof path - 1);
            if (length < 0) return 0;
            path[length] = 0;
            return (size_t)length >= strlen(ending) && strcmp(path + length - strlen(ending), ending) == 0;
        }
        static int is_regular(int descriptor) {
            struct stat status;
            return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
        }
        /* What is left of a write. A frame of the log has a header of 24 bytes, which passes, so that its page does not. */
        static size_t part(int descriptor, size_t count) {
            if (!is_regular(descriptor) || count <= 24) return count;
            if (present("slow-writes")) return count > 512 ? 512 : count;
            if (present("short-writes")) return count > 512 ? count / 2 : 0;
            return count;
        }
        static int fails(int descriptor) {
            if (!is_regular(descriptor)) return 0;
            if (present("full-disk")) { errno = ENOSPC; return 1; }
            if (present("full-log") && is_named(descriptor, "/db-wal")) { errno = ENOSPC; return 1; }
            if (present("full-database") && is_named(descriptor, "/db")) { errno = ENOSPC; return 1; }
            if (present("read-only-disk")) { errno = EROFS; return 1; }
            if (present("slow-disk")) usleep(1000);
            return 0;
        }
        #define REAL(type, name) ((type)dlsym(RTLD_NEXT, name))
        typedef int (*sync_call)(int);
        typedef ssize_t (*write_call)(int, const void *, size_t, off64_t);
        typedef int (*open_call)(const char *, int, ...);

        int fsync(int descriptor) {
            if (present("failing-sync")) { errno = EIO; return -1; }
            return REAL(sync_call, "fsync")(descriptor);
        }
        int fdatasync(int descriptor) {
            if (present("failing-sync")) { errno = EIO; return -1; }
            return REAL(sync_call, "fdatasync")(descriptor);
        }
        /* Not before the first write: the runtime of a sanitizer makes large files of its own. */
        static void limit_file_size(void) {
            static int is_set;
            const char *bytes = getenv("FAULT_FILE_SIZE");
            if (is_set || !bytes) return;
            is_set = 1;
            struct rlimit limit = {strtoul(bytes, 0, 10), strtoul(bytes, 0, 10)};
            setrlimit(RLIMIT_FSIZE, &limit);
        }
        static ssize_t write_part(int descriptor, const void *bytes, size_t count, off64_t offset) {
            limit_file_size();
            if (fails(descriptor)) return -1;
            size_t some = part(descriptor, count);
            if (some == 0 && count > 0) { errno = ENOSPC; return -1; }
            return REAL(write_call, "pwrite64")(descriptor, bytes, some, offset);
        }
        ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
            return write_part(descriptor, bytes, count, offset);
        }
        ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
            return write_part(descriptor, bytes, count, offset);
        }
        static int refused(const char *path, int flags) {
            const char *name = strrchr(path, '/');
            name = name ? name + 1 : path;
            return (flags & O_ACCMODE) != O_RDONLY && strncmp(name, "db", 2) == 0 && present("read-only-file");
        }
        #define OPEN(name) \
            int name(const char *path, int flags, ...) { \
                va_list list; \
                va_start(list, flags); \
                mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0; \
                va_end(list); \
                if (refused(path, flags)) { errno = EACCES; return -1; } \
                return REAL(open_call, #name)(path, flags, mode); \
            }
        OPEN(open)
        OPEN(open64)

        typedef int (*accept_call)(int, struct sockaddr *, socklen_t *, int);
        int accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags) {
            if (present("no-descriptors")) { errno = EMFILE; return -1; }
            if (present("no-files")) { errno = ENFILE; return -1; }
            if (present("no-buffers")) { errno = ENOBUFS; return -1; }
            return REAL(accept_call, "accept4")(descriptor, address, length, flags);
        }

        /* Whoever started the test may ignore it. */
        __attribute__((constructor)) static void default_signal(void) { signal(SIGXFSZ, SIG_DFL); }
        /* Not only the soft limit, which the server raises. */
        __attribute__((constructor)) static void limit_descriptors(void) {
            const char *count = getenv("FAULT_DESCRIPTORS");
            if (!count) return;
            struct rlimit limit = {strtoul(count, 0, 10), strtoul(count, 0, 10)};
            setrlimit(RLIMIT_NOFILE, &limit);
        }
        """#

    private let folder: StartingFolder

    /// Builds the library in `folder` with the compiler that comes with Swift.
    init(in folder: StartingFolder) throws {
        self.folder = folder
        folder.write("fault.c", Self.source)
        let words = ["clang", "-shared", "-fPIC", "-O1", "-o", folder.file("fault.so"), folder.file("fault.c"), "-ldl"]
        var arguments = words.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var pid: pid_t = 0
        try #require(posix_spawnp(&pid, "clang", nil, nil, &arguments, environ) == 0, "clang comes with Swift")
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        try #require(status == 0)
    }

    /// What makes a process load it.
    var environment: [String: String] { ["LD_PRELOAD": folder.file("fault.so"), "FAULT_FOLDER": folder.path] }

    /// From now on the disk fails.
    func begin(_ fault: Fault) { folder.write(fault.rawValue, "") }

    /// The disk works again.
    func end(_ fault: Fault) { unlink(folder.file(fault.rawValue)) }
}
