resource "berth_tenant" "acme" {
  name                = "Acme Keys"
  deletion_protection = false
}

resource "berth_api_key" "example" {
  tenant              = berth_tenant.acme.id
  name                = "ci"
  scopes              = ["submit", "read"]
  expires_in          = "2160h"
  rotate_when_changed = { quarter = "2027-1" }
}

# The key's text, in the apply that makes or rotates it.
ephemeral "berth_new_secret" "ci" {
  of = berth_api_key.example.id
}

# Hands it to a store of secrets. A resource of the store with a write-only attribute is better.
resource "terraform_data" "store" {
  triggers_replace = berth_api_key.example.id

  provisioner "local-exec" {
    command     = "umask 077 && printenv KEY > ci.key"
    environment = { KEY = ephemeral.berth_new_secret.ci.value }
  }
}
