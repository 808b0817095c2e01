terraform {
  required_version = ">= 1.11"
  required_providers {
    berth = { source = "registry.example.com/berth/berth" }
  }
}
