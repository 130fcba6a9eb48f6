#pragma once
/* config/openapi.json, as it was when the program was built. */
#include <stddef.h>

const unsigned char *COpenAPI_document(void);
size_t COpenAPI_length(void);
