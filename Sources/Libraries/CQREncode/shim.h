#pragma once
/* libqrencode 4, loaded when the first QR code is drawn, because a server without logins by phone does not need it. The two
   functions are declared here, so that the build needs no header of the library. */
#include <dlfcn.h>
#include <stddef.h>

/* QRcode of <qrencode.h>: `width` * `width` bytes, whose lowest bit is 1 for a dark module. */
typedef struct {
    int version;
    int width;
    unsigned char *data;
} CQREncode_code;

/* Sendable, because pointers to functions are valid on every thread. */
struct __attribute__((swift_attr("@Sendable"))) CQREncode_library {
    /* QRcode_encodeString: the text, version 0 for the smallest one that fits, level, mode, 1 for a text with its case. */
    CQREncode_code *(*encode)(const char *text, int version, int level, int mode, int has_case);
    void (*release)(CQREncode_code *code);
};

/* QRecLevel and QRencodeMode of <qrencode.h>. */
enum { CQREncode_level_medium = 1, CQREncode_mode_bytes = 2 };

/* Finds every function. Returns NULL on success, otherwise the loader's error. The library is never unloaded. */
static inline const char *CQREncode_load(struct CQREncode_library *library) {
    void *handle = dlopen("libqrencode.so.4", RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) return dlerror();
    library->encode = (__typeof__(library->encode))dlsym(handle, "QRcode_encodeString");
    if (library->encode == NULL) return dlerror();
    library->release = (__typeof__(library->release))dlsym(handle, "QRcode_free");
    return library->release == NULL ? dlerror() : NULL;
}
