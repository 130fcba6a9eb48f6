#pragma once
/* The files of config/openapi at build time. */
#include <stddef.h>

typedef struct {
    const unsigned char *bytes;
    size_t length;
} COpenAPIFile;

COpenAPIFile COpenAPI_document(void);
COpenAPIFile COpenAPI_schemas(void);
COpenAPIFile COpenAPI_parameters(void);
COpenAPIFile COpenAPI_answers(void);
COpenAPIFile COpenAPI_bodies(void);
