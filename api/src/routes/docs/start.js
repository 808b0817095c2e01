// Paths are relative to the page, so that the API may stand under a path of its own.
// A validator elsewhere would be told the address of this server: there is none.
window.ui = SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#ui",
  deepLinking: true,
  validatorUrl: null,
  persistAuthorization: false,
});
