/* In C, because Swift takes a minute to compile an array of so many bytes, and C takes none. */
#include "COpenAPI.h"

#pragma clang diagnostic ignored "-Wc23-extensions"
static const unsigned char document[] = {
#embed "../../../config/openapi.json"
};

const unsigned char *COpenAPI_document(void) { return document; }
size_t COpenAPI_length(void) { return sizeof document; }
