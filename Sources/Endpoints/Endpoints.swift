// Endpoints
