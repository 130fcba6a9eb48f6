#pragma once
/* libpq, loaded when the first PostgreSQL database is opened, because it loads GnuTLS, Kerberos and LDAP, four megabytes
   that a server on SQLite does not need. Its header declares the functions, so that the compiler checks calls as if they
   were linked. */
#include <dlfcn.h>
#include <postgresql/libpq-fe.h>

#define CPOSTGRES_FUNCTIONS(F)                                                                                          \
    F(PQclear) F(PQcmdTuples) F(PQconnectdbParams) F(PQconsumeInput) F(PQenterPipelineMode) F(PQerrorMessage)           \
    F(PQfinish) F(PQflush) F(PQfname) F(PQgetResult) F(PQgetisnull) F(PQgetlength) F(PQgetvalue) F(PQhost) F(PQisBusy)  \
    F(PQntuples) F(PQpingParams) F(PQpipelineSync) F(PQresultErrorField) F(PQresultErrorMessage) F(PQresultStatus)      \
    F(PQsendPrepare) F(PQsendQueryParams) F(PQsendQueryPrepared) F(PQsetNoticeProcessor) F(PQsetnonblocking)            \
    F(PQsocket) F(PQsslInUse) F(PQstatus)

#define CPOSTGRES_MEMBER(name) __typeof__(name) *name;
struct CPostgres_library {
    CPOSTGRES_FUNCTIONS(CPOSTGRES_MEMBER)
};
#undef CPOSTGRES_MEMBER

/* Finds every function. Returns NULL on success, otherwise the loader's error. The library is never unloaded. */
static inline const char *CPostgres_load(struct CPostgres_library *library) {
    void *handle = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) return dlerror();
#define CPOSTGRES_FIND(name)                                                                                            \
    library->name = (__typeof__(name) *)dlsym(handle, #name);                                                           \
    if (library->name == NULL) return dlerror();
    CPOSTGRES_FUNCTIONS(CPOSTGRES_FIND)
#undef CPOSTGRES_FIND
    return NULL;
}
