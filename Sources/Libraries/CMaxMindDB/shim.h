#pragma once
/* libmaxminddb, loaded when the server opens a database of places and not before: a server that has none does without it. Its
   header declares the functions, so that calls are checked by the compiler as if they were linked. */
#include <dlfcn.h>
#include <maxminddb.h>

#define CMAXMINDDB_FUNCTIONS(F)                                                                                         \
    F(MMDB_aget_value) F(MMDB_close) F(MMDB_lookup_string) F(MMDB_open) F(MMDB_strerror)

#define CMAXMINDDB_MEMBER(name) __typeof__(name) *name;
/* Pointers to functions: good for every thread. */
struct __attribute__((swift_attr("@Sendable"))) CMaxMindDB_library {
    CMAXMINDDB_FUNCTIONS(CMAXMINDDB_MEMBER)
};
#undef CMAXMINDDB_MEMBER

/* Finds every function. NULL on success, else what the loader says. Never unloaded. */
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

/* What Swift cannot say: a path is an array of C strings with NULL at its end. This one has up to four names. */
static inline int CMaxMindDB_value(
    struct CMaxMindDB_library library, MMDB_entry_s *entry, MMDB_entry_data_s *value, const char *first,
    const char *second, const char *third, const char *fourth) {
    const char *const path[] = {first, second, third, fourth, NULL};
    return library.MMDB_aget_value(entry, value, path);
}
