// QRCode: a text as a QR code (ISO/IEC 18004), by libqrencode, which is loaded when the first code is drawn.
//
// Owns: the matrix of a code and its picture as SVG.
//
// Must not know: what the text says, pages, HTTP.
//
// Reading order: QRMatrix, QRLibrary.
