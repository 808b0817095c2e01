resource "berth_tenant" "acme" {
  name                = "Acme Users"
  deletion_protection = false
}

resource "berth_user" "example" {
  tenant = berth_tenant.acme.id
  email  = "ann@example.com"
  role   = "developer"
}

# The invitation, in the apply that invites.
ephemeral "berth_new_secret" "ann" {
  of = berth_user.example.id
}

resource "terraform_data" "mail" {
  triggers_replace = berth_user.example.id

  provisioner "local-exec" {
    command     = "umask 077 && printenv TOKEN > ann.token"
    environment = { TOKEN = ephemeral.berth_new_secret.ann.value }
  }
}
