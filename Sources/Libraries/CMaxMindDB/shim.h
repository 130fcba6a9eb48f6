#pragma once
/* libmaxminddb, loaded when the server opens a database of locations, because a server without one does not need it. Its
   header declares the functions, so that the compiler checks calls as if they were linked. */
#include <dlfcn.h>
#include <maxminddb.h>

#define CMAXMINDDB_FUNCTIONS(F)                                                                                         \
    F(MMDB_aget_value) F(MMDB_close) F(MMDB_lookup_string) F(MMDB_open) F(MMDB_strerror)

#define CMAXMINDDB_MEMBER(name) __typeof__(name) *name;
/* Sendable, because pointers to functions are valid on every thread. */
struct __attribute__((swift_attr("@Sendable"))) CMaxMindDB_library {
    CMAXMINDDB_FUNCTIONS(CMAXMINDDB_MEMBER)
};
#undef CMAXMINDDB_MEMBER

/* Finds every function. Returns NULL on success, otherwise the loader's error. The library is never unloaded. */
static inline const char *CMaxMindDB_load(struct CMaxMindDB_library *library) {
    void *handle = dlopen("libmaxminddb.so.0", RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) return dlerror();
#define CMAXMINDDB_FIND(name)                                                                                           \
    library->name = (__typeof__(name) *)dlsym(handle, #name);                                                           \
    if (library->name == NULL) return dlerror();
    CMAXMINDDB_FUNCTIONS(CMAXMINDDB_FIND)
#undef CMAXMINDDB_FIND
    return NULL;
}

/* A look-up for Swift, which cannot build a path: an array of C strings that ends with NULL. It has up to four names. */
static inline int CMaxMindDB_value(
    struct CMaxMindDB_library library, MMDB_entry_s *entry, MMDB_entry_data_s *value, const char *first,
    const char *second, const char *third, const char *fourth) {
    const char *const path[] = {first, second, third, fourth, NULL};
    return library.MMDB_aget_value(entry, value, path);
}
